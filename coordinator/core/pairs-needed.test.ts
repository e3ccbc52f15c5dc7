import { expect, it } from 'vitest';
import { pairsNeeded } from './pairs-needed.ts';
import { randomFrom } from './random.ts';
import { signFlipP } from './sign-flip.ts';

it('follows its formula: estimate 2, σ 1.4826 · 1, threshold 0 and 1', () => {
  const gains = [1, 2, 3, 1, 3];
  expect(pairsNeeded(gains)).toBe(5);
  expect(pairsNeeded(gains, 1)).toBe(Math.ceil((2.48647486 * 1.4826) ** 2 * (Math.PI / 3)));
  expect(pairsNeeded(gains, 1)).toBe(15);
});

it('never asks for fewer than the five that can reach p ≤ 0.05, and for no number where none is enough', () => {
  expect(pairsNeeded([50, 50.1])).toBe(5);
  expect(pairsNeeded([1, -1])).toBeNull();
  expect(pairsNeeded([])).toBeNull();
});

it('is not driven by one leg of another mode', () => {
  expect(pairsNeeded([3, 3.2, 2.9, 3.1, 2.8, 3, -75])!).toBeLessThan(10);
});

it('gives the odds that it promises: near 80 % of series of that length reach p ≤ 0.05', () => {
  const random = randomFrom(5);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  // A series whose estimate is 1 and whose σ is 1.4826.
  const pairs = pairsNeeded([0, 1, 2, 0, 2, 1, 0, 2, 2, 0])!;
  let reached = 0;
  for (let run = 0; run < 2000; run++) if (signFlipP(Array.from({ length: pairs }, () => 1 + 1.4826 * normal())) <= 0.05) reached++;
  expect(reached / 2000).toBeGreaterThan(0.74);
  expect(reached / 2000).toBeLessThan(0.9);
});
