import { expect, test } from 'vitest';
import { caseSeed, Random } from './random.ts';

test('a seed replays, and another seed gives other numbers', () => {
  const draw = (seed: number): number[] => {
    const random = new Random(seed);
    return Array.from({ length: 8 }, () => random.word());
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('the stream of seed 1 is pinned: a changed stream would change every fill and every digest', () => {
  const random = new Random(1);
  expect([random.word(), random.word(), random.word()]).toEqual([3739678614, 2725338478, 3923878172]);
});

test('an array of words is what single words would be, and the stream goes on behind it', () => {
  const [one, many] = [new Random(9), new Random(9)];
  const words = new Uint32Array(1000);
  many.words(words);
  expect([...words]).toEqual(Array.from(words, () => one.word()));
  expect(many.word()).toBe(one.word());
});

test('words fill their range evenly enough', () => {
  const random = new Random(3);
  const bins = new Uint32Array(16);
  for (let i = 0; i < 16_000; i++) bins[random.word() >>> 28]!++;
  for (const count of bins) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

test('ranges hold, both ends of integers come up, and decades are log-uniform with both signs', () => {
  const random = new Random(4);
  const integers = new Set<number>();
  let negative = 0;
  let small = 0;
  for (let i = 0; i < 4000; i++) {
    integers.add(random.integer(-2, 2));
    const uniform = random.uniform(3, 4);
    expect(uniform >= 3 && uniform < 4).toBe(true);
    const decade = random.decades(1e-3, 1e3);
    expect(Math.abs(decade) >= 1e-3 && Math.abs(decade) < 1e3).toBe(true);
    if (decade < 0) negative++;
    if (Math.abs(decade) < 1) small++;
  }
  expect([...integers].toSorted((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2]);
  expect(Math.abs(negative - 2000)).toBeLessThan(200);
  expect(Math.abs(small - 2000)).toBeLessThan(200);
});

test('a case’s seed depends on its name and on the base seed', () => {
  expect(caseSeed(1, 'a/b')).toBe(caseSeed(1, 'a/b'));
  expect(new Set([caseSeed(1, 'a/b'), caseSeed(1, 'a/c'), caseSeed(2, 'a/b')]).size).toBe(3);
});
