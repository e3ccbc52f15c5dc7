/** What a kernel may need beyond what every device has: told before anything runs, and read by Dawn's own front end where no device here has it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openNeeding } from '../../engine/contract/run.ts';
import { parseSettings, needsOf } from '../../engine/decode/settings.ts';
import { EngineRefused } from '../../engine/errors.ts';
import type { Gpu } from '../../engine/gpu/device.ts';
import { dawnInstance } from '../../engine/gpu/instance.ts';
import { kernelSource } from '../../engine/gpu/kernel-source.ts';
import { NEEDS, refuseUnlessServed } from '../../engine/gpu/needs.ts';
import { qmmQ4Matrix } from '../../kernels/qmm-q4-matrix/qmm-q4-matrix.ts';
import { openAnyGpu } from './against-reference.ts';

let gpu: Gpu;

beforeAll(async () => {
  gpu = await openAnyGpu();
});

afterAll(() => gpu.close());

function refusalOf(act: () => void): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}

test('a device that was not asked for matrices does not serve them, and says so', () => {
  expect(gpu.lack('subgroup-matrix')).toBe('subgroup matrices: it was opened without them');
  expect(gpu.device.features.has('shader-f16')).toBe(false);
});

test('only the settings that ask for matrices need them', () => {
  expect([...needsOf(parseSettings(['qmm-prompt=matrix-2']))]).toEqual([['subgroup-matrix', '--set qmm-prompt=matrix-2']]);
  expect([...needsOf(parseSettings([])), ...needsOf(parseSettings(['qmm-prompt=tile']))]).toEqual([]);
});

test('what asks for matrices is refused where they are absent, in one line, and served where they are not', async () => {
  const asked = await openNeeding(gpu, 'subgroup-matrix');
  const lack = asked.lack('subgroup-matrix');
  const refusal =
    lack === ''
      ? undefined
      : new EngineRefused(
          `--set qmm-prompt=matrix needs subgroup matrices, and ${gpu.adapter.name} lacks ${lack}`,
          'leave --set qmm-prompt=matrix out, or name another --adapter',
        );
  expect(refusalOf(() => refuseUnlessServed(asked, 'subgroup-matrix', '--set qmm-prompt=matrix'))).toEqual(refusal);
  asked.close();
});

test('Dawn reads the shader that needs matrices', async () => {
  const { toggles, features } = NEEDS['subgroup-matrix'];
  const adapter = await dawnInstance(['backend=null'], toggles).requestAdapter();
  const device = await adapter!.requestDevice({ requiredFeatures: features as GPUFeatureName[] });
  const problems = async (text: string): Promise<string[]> => {
    device.pushErrorScope('validation');
    const messages = (await device.createShaderModule({ code: text }).getCompilationInfo()).messages.map(({ message }) => message);
    await device.popErrorScope();
    return messages;
  };
  const { text } = kernelSource(qmmQ4Matrix);
  expect(await problems(text)).toEqual([]);
  expect(await problems(text.replace('enable chromium_experimental_subgroup_matrix;', ''))).not.toEqual([]);
  device.destroy();
});
