/**
 * Paired gains. The unit is the pair (two fresh processes next to each other in the order), never the single leg:
 * what both legs of a pair share (heat, other load, memory) cancels.
 */

/** Median; the mean of the middle two for an even count. @throws RangeError for an empty list. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('the median of nothing is not defined');
  const sorted = [...values].toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Gain of each pair, (baseline − candidate)/baseline in percent: positive is faster.
 * @param baseline times of the baseline legs, any unit; `candidate[i]` is the other leg of pair i, in the same unit.
 * @throws RangeError when the lengths differ, are zero, or a time is not positive.
 */
export function pairedGains(baseline: readonly number[], candidate: readonly number[]): { gainPercent: number[]; medianPercent: number } {
  if (baseline.length !== candidate.length) throw new RangeError(`${baseline.length} baseline times against ${candidate.length} candidate times are no pairs`);
  const gainPercent = baseline.map((base, i) => {
    const other = candidate[i]!;
    if (!(base > 0) || !(other > 0)) throw new RangeError(`pair ${i + 1} has a time that is not positive: ${base}, ${other}`);
    return ((base - other) / base) * 100;
  });
  return { gainPercent, medianPercent: median(gainPercent) };
}
