/**
 * How long a run of dispatches takes: by the device's timestamps where they are to be had and trusted, by wall time otherwise. Wall time
 * holds one submit and one wait besides, so that a run must be long against those.
 */
import type { Gpu } from './device.ts';
import type { Dispatch } from './programs.ts';
import type { Stamps } from './stamps.ts';
import type { Stream } from './stream.ts';

export interface Elapsed {
  /** From the end of the pass before to the end of the run, by the device; null without stamps. */
  readonly gpuMs: number | null;
  /** From before encoding to the queue being empty again. */
  readonly wallMs: number;
  /** Encoding and submitting. */
  readonly hostMs: number;
}

/**
 * Runs dispatches in one pass of one submit, on an idle queue.
 * @param mark any cheap dispatch: its pass goes before, so that there is an end to measure from. It must be ordered before the run: one that
 *   touches none of its buffers may overlap it.
 */
export async function timeDispatches(gpu: Gpu, stream: Stream, stamps: Stamps | undefined, mark: Dispatch, run: readonly Dispatch[]): Promise<Elapsed> {
  await stream.done();
  const start = performance.now();
  if (stamps) stream.beginStamped(stamps, 'mark');
  stream.record(mark);
  if (stamps) stream.beginStamped(stamps, 'run');
  for (const dispatch of run) stream.record(dispatch);
  stream.submit('timestamp');
  const submitted = performance.now();
  await stream.done();
  const end = performance.now();
  const [first, last] = (await stamps?.read(stream)) ?? [];
  gpu.check();
  return { gpuMs: first && last ? Number(last.ns - first.ns) / 1e6 : null, wallMs: end - start, hostMs: submitted - start };
}
