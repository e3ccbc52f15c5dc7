/**
 * Whether the device's timestamps can be believed. A run long against every latency is measured by both clocks, and the stamps are
 * trusted when they tell nearly the same: some drivers report a wrong period, or zeros.
 */
import type { Dispatch } from '../gpu/programs.ts';
import { timeDispatches, type Elapsed } from '../gpu/time-dispatches.ts';
import type { ProbeRecord } from '../protocol.ts';
import { median } from '../statistics.ts';
import type { Bench } from './bench.ts';
import { probeDispatch, readShader } from './shaders.ts';

export type Trust = ProbeRecord['timestamps'];

/**
 * The device may start on a run while it is still being submitted, and not before it is encoded. So a stamped span is no longer than the
 * span from before encoding to the empty queue, and hardly shorter than the part of it after the submit returned.
 */
const MOST_OF_WHOLE = 1.03;
const LEAST_OF_WAIT = 0.7;

/** The wall span must be this long before its ratio means anything. */
const LEAST_WAIT_MS = 10;
const SAMPLES = 5;

/** Below the stream's own cap on what one submit holds. */
const MOST_DISPATCHES = 1024;

/** Judges runs that both clocks have measured. */
export function judge(runs: readonly Elapsed[]): Trust {
  const ratio = median(runs.map(({ gpuMs, wallMs }) => gpuMs! / wallMs));
  const ratioOfWait = median(runs.map((run) => run.gpuMs! / waitMs(run)));
  const trusted = runs.length > 0 && ratio <= MOST_OF_WHOLE && ratioOfWait >= LEAST_OF_WAIT;
  const why =
    `timestamp spans are ${ratio.toFixed(3)} of wall time from encoding on and ${ratioOfWait.toFixed(3)} of that from the submit on; ` +
    `at most ${MOST_OF_WHOLE} and at least ${LEAST_OF_WAIT} are believed`;
  return { available: true, trusted, ratio, ratioOfWait, why: trusted ? '' : why };
}

/** Measures, on reads of one buffer in one pass: work that the device is slower at than the host is at recording it. */
export async function timestampTrust(bench: Omit<Bench, 'trusted'>, bytes: number): Promise<Trust> {
  const { gpu, stream, programs, stamps, mark } = bench;
  if (!stamps) return { available: false, trusted: false, ratio: null, ratioOfWait: null, why: 'the device has no timestamp-query' };
  const [data, sum] = [bytes, 4].map((size) => gpu.device.createBuffer({ label: 'probe trust', size, usage: GPUBufferUsage.STORAGE })) as [
    GPUBuffer,
    GPUBuffer,
  ];
  try {
    const read = await probeDispatch(programs, readShader(bytes, 16), { data, sum });
    const run = (length: number): Promise<Elapsed> => timeDispatches(gpu, stream, stamps, mark, Array<Dispatch>(length).fill(read));
    let length = 1;
    await run(length);
    for (let elapsed = await run(length); waitMs(elapsed) < LEAST_WAIT_MS && length < MOST_DISPATCHES; elapsed = await run(length))
      length = Math.min(MOST_DISPATCHES, length * 4);
    const runs: Elapsed[] = [];
    while (runs.length < SAMPLES && (runs.length === 0 || !bench.late())) runs.push(await run(length));
    return judge(runs);
  } finally {
    data.destroy();
    sum.destroy();
  }
}

/** From the submit's return to the empty queue. */
function waitMs({ wallMs, hostMs }: Elapsed): number {
  return wallMs - hostMs;
}
