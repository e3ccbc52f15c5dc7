import { expect, it } from 'vitest';
import type { Stamp } from '../gpu/stamps.ts';
import { medianRows, timeByLabel, withShares } from './profile-pass.ts';

it('adds up differences of ends by label, none of them negative', () => {
  const stamp = (label: string, us: number): Stamp => ({ label, boundBytes: 10, ns: BigInt(us * 1000) });
  expect(timeByLabel([stamp('start', 100), stamp('norm', 130), stamp('qmm', 180), stamp('norm', 170), stamp('qmm', 200)])).toEqual([
    { dispatch: 'norm', dispatches: 2, gpuMs: 0.03, boundBytes: 20 },
    { dispatch: 'qmm', dispatches: 2, gpuMs: 0.07, boundBytes: 20 },
  ]);
});

it('takes the median of each row, and refuses tokens of other dispatches', () => {
  const row = (gpuMs: number, dispatches = 2): Parameters<typeof withShares>[0][number] => ({ dispatch: 'norm', dispatches, gpuMs, boundBytes: 8 });
  expect(medianRows([[row(3)], [row(1)], [row(2)]])).toEqual([row(2)]);
  expect(() => medianRows([[row(3)], [row(1, 3)]])).toThrow('two profiled tokens differ: 2 norm; 3 norm');
});

it('gives shares of the ceiling, and none where a kernel cannot have read all that it binds', () => {
  const rows = [0.5, 1, 0.25, 0].map((gpuMs) => ({ dispatch: 'qmm', dispatches: 1, gpuMs, boundBytes: 50e6 }));
  // 100, 50, 200 and infinitely many GB/s
  expect(withShares(rows, 100).map(({ share }) => share)).toEqual([1, 0.5, null, null]);
});
