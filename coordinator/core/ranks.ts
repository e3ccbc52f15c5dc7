/** What exact rank tests share: mid-ranks as integers, and the distribution of a random subset's sum. */

/** Twice the mid-ranks (1 the least), so that ties stay integers. */
export function doubledRanks(values: readonly number[]): number[] {
  const order = values.map((value, i) => ({ value, i })).toSorted((a, b) => a.value - b.value);
  const ranks = Array.from({ length: values.length }, () => 0);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to + 1 < order.length && order[to + 1]!.value === order[from]!.value) to++;
    for (let k = from; k <= to; k++) ranks[order[k]!.i] = from + to + 2;
    from = to + 1;
  }
  return ranks;
}

/**
 * Probability of each sum of a random subset of `weights`, each in or out with probability ½.
 * @param weights positive integers. @returns index = sum.
 */
export function subsetSums(weights: readonly number[]): Float64Array {
  const share = new Float64Array(weights.reduce((sum, weight) => sum + weight, 0) + 1);
  share[0] = 1;
  let top = 0;
  for (const weight of weights) {
    for (let sum = top; sum >= 0; sum--) {
      const half = share[sum]! / 2;
      share[sum] = half;
      share[sum + weight] = share[sum + weight]! + half;
    }
    top += weight;
  }
  return share;
}

/**
 * Probability of each sum of `size` of the weights, every choice of that many equally likely.
 * @param weights positive integers. @returns index = sum.
 */
export function fixedSizeSums(weights: readonly number[], size: number): Float64Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // chosen[k][s]: the probability that k of the weights seen so far are in, with sum s, when each choice of `size` is equally likely.
  const chosen = Array.from({ length: size + 1 }, () => new Float64Array(total + 1));
  chosen[0]![0] = 1;
  for (const [seen, weight] of weights.entries()) {
    const left = weights.length - seen;
    for (let k = Math.min(size, seen); k >= 0; k--) {
      const take = (size - k) / left;
      const here = chosen[k]!;
      const next = chosen[k + 1];
      for (let sum = total; sum >= 0; sum--) {
        const share = here[sum]!;
        if (share === 0) continue;
        here[sum] = share * (1 - take);
        if (next !== undefined && take > 0) next[sum + weight] = next[sum + weight]! + share * take;
      }
    }
  }
  return chosen[size]!;
}
