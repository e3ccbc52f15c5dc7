import { describe, expect, it } from 'vitest';
import { indexSum, readSizes } from './read-stream.ts';
import { judge } from './trust.ts';

const MIB = 1 << 20;

describe('readSizes', () => {
  it('keeps what fits a binding and a buffer, and little on a CPU driver', () => {
    expect(readSizes(2 ** 31 - 4, 2 ** 32, false)).toEqual([1, 16, 64, 256, 1024].map((mib) => mib * MIB));
    expect(readSizes(128 * MIB, 256 * MIB, false)).toEqual([MIB, 16 * MIB, 64 * MIB]);
    expect(readSizes(1024 * MIB, 256 * MIB, false).at(-1)).toBe(256 * MIB);
    expect(readSizes(1024 * MIB, 1024 * MIB, true).at(-1)).toBe(64 * MIB);
  });
});

describe('indexSum', () => {
  it('is the sum of the indices in 32 bits', () => {
    let sum = 0;
    for (let i = 0; i < 1 << 18; i++) sum = (sum + i) >>> 0;
    expect(indexSum(1 << 18, 1)).toBe(sum);
    expect(indexSum(1 << 18, 3)).toBe(Math.imul(sum, 3) >>> 0);
    expect(indexSum((1 << 18) - 4, 1)).not.toBe(sum);
  });
});

describe('judge', () => {
  const run = (gpuMs: number): { gpuMs: number; wallMs: number; hostMs: number } => ({ gpuMs, wallMs: 20, hostMs: 10 });

  it('trusts spans between the wait and the whole wall time, by their median', () => {
    expect(judge([run(9), run(14), run(400)])).toEqual({ available: true, trusted: true, ratio: 0.7, ratioOfWait: 1.4, why: '' });
    for (const gpuMs of [7, 20.5]) expect(judge([run(gpuMs)]).trusted).toBe(true);
  });

  it('says why it trusts others not', () => {
    for (const gpuMs of [0, 6.9, 21, 833]) expect(judge([run(gpuMs)])).toMatchObject({ trusted: false, why: expect.stringContaining((gpuMs / 20).toFixed(3)) });
    expect(judge([]).trusted).toBe(false);
  });
});
