/** Timestamps over several query sets: as many as there were passes, in their order, and from the start again after a read. */
import { afterAll, expect, it } from 'vitest';
import { Programs } from '../../engine/gpu/programs.ts';
import { hasTimestamps, Stamps } from '../../engine/gpu/stamps.ts';
import { Stream } from '../../engine/gpu/stream.ts';
import { chainOf } from '../../engine/probe/dependent.ts';
import { openAnyGpu } from './against-reference.ts';

const gpu = await openAnyGpu();
afterAll(() => gpu.close());

it.skipIf(!hasTimestamps(gpu))('stamps every pass, whatever one query set holds', async () => {
  const stream = new Stream(gpu);
  const { dispatches } = await chainOf(gpu, new Programs(gpu), 4);
  const stamps = new Stamps(gpu, 3);
  for (const passes of [7, 2, 3]) {
    stream.stampEach(stamps);
    for (let index = 0; index < passes; index++) stream.record(dispatches[index % 4]!);
    stream.stampEach(undefined);
    stream.record(dispatches[0]!);
    const ends = await stamps.read(stream);
    expect(ends.map(({ label, boundBytes }) => [label, boundBytes])).toEqual(Array.from({ length: passes }, () => ['add-step/probe 1×1×1', 512]));
    expect(ends[0]!.ns).toBeGreaterThan(0n);
    // A chain: each dispatch waits for the one before.
    const times = ends.map(({ ns }) => ns);
    expect(times).toEqual(times.toSorted((a, b) => Number(a - b)));
  }
  stamps.destroy();
});
