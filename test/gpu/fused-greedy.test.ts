/** greedy-parts and greedy-merge give, bit for bit, what argmax and logits-checksum give. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Gpu } from '../../engine/gpu/device.ts';
import { runLaunch } from '../support/run-launch.ts';
import { argmax } from '../../kernels/argmax/argmax.ts';
import { greedyMerge } from '../../kernels/greedy-merge/greedy-merge.ts';
import { greedyParts, spansOf } from '../../kernels/greedy-parts/greedy-parts.ts';
import { logitsChecksum } from '../../kernels/logits-checksum/logits-checksum.ts';
import { Random } from '../../kernels/random.ts';
import { logitsFills } from '../../kernels/shared/logits-fill.ts';
import { openAnyGpu } from './against-reference.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openAnyGpu();
});
afterAll(() => gpu.close());

const cases = [1, 1024, 1025, 5000, 300_000].flatMap((n) => logitsFills.map((fill) => ({ n, name: fill.name, fill })));

it.each(cases)('$n logits, $name', async ({ n, fill }) => {
  const { logits } = fill.make({ n }, new Random(n));
  const inputs = { logits: logits! };
  const { parts } = await runLaunch(gpu, greedyParts, { n }, undefined, inputs);
  const fused = await runLaunch(gpu, greedyMerge, { spans: spansOf(n) }, undefined, { parts: parts! });
  expect(fused['result']).toEqual((await runLaunch(gpu, argmax, { n }, undefined, inputs))['result']);
  expect(fused['checksum']).toEqual((await runLaunch(gpu, logitsChecksum, { n }, undefined, inputs))['result']);
});
