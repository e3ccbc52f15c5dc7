/**
 * Seeded random numbers: the same seed gives the same sequence on every machine.
 * Generator sfc32 (Chris Doty-Humphrey, PractRand), its state filled from the seed by splitmix32, the first twelve outputs thrown away.
 * @param seed any integer. @returns numbers in [0, 1), 32 bits each.
 */
export function randomFrom(seed: number): () => number {
  let mixed = seed | 0;
  const mix = (): number => {
    mixed = (mixed + 0x9e3779b9) | 0;
    let z = mixed;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) | 0;
  };
  let [a, b, c, counter] = [mix(), mix(), mix(), 1];
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

/** A whole number from 0 to `below` − 1. */
export function randomBelow(random: () => number, below: number): number {
  return Math.floor(random() * below);
}
