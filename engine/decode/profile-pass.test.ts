import { expect, it } from 'vitest';
import { medianRows, timeByLabel } from './profile-pass.ts';

it('adds up differences of ends by label, none of them negative', () => {
  const stamp = (label: string, us: number): { label: string; ns: bigint } => ({ label, ns: BigInt(us * 1000) });
  expect(timeByLabel([stamp('start', 100), stamp('norm', 130), stamp('qmm', 180), stamp('norm', 170), stamp('qmm', 200)])).toEqual([
    { dispatch: 'norm', dispatches: 2, gpuMs: 0.03 },
    { dispatch: 'qmm', dispatches: 2, gpuMs: 0.07 },
  ]);
});

it('takes the median of each row, and refuses tokens of other dispatches', () => {
  const row = (gpuMs: number, dispatches = 2): { dispatch: string; dispatches: number; gpuMs: number } => ({ dispatch: 'norm', dispatches, gpuMs });
  expect(medianRows([[row(3)], [row(1)], [row(2)]])).toEqual([row(2)]);
  expect(() => medianRows([[row(3)], [row(1, 3)]])).toThrow('two profiled tokens differ: 2 norm; 3 norm');
});
