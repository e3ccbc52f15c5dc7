import { expect, test } from 'vitest';
import { loadKernel } from '../../kernels/registry.ts';
import { harnessFiles } from './harness.ts';

test('bounds, fills and gates that a contract stands on are part of what is hashed; shaders, wrappers and types are not', async () => {
  const { files } = await loadKernel('qmm-q4');
  const found = harnessFiles(files);
  for (const path of ['kernels/shared/bounds.ts', 'kernels/shared/q4-fill.ts', 'kernels/plant.ts', 'engine/contract/compare.ts', 'engine/contract/tally.ts'])
    expect(found).toContain(path);
  expect(found.filter((path) => /qmm-q4\.|expectations|\.wgsl$|^engine\/(?!contract)/.test(path))).toEqual([]);
});
