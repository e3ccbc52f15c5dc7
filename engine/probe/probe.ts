/** Measures a device: read stream, dependent dispatches, latencies, and whether its timestamps can be believed. */
import { EngineRefused } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { programsFor } from '../gpu/programs.ts';
import { hasTimestamps, Stamps } from '../gpu/stamps.ts';
import { Stream } from '../gpu/stream.ts';
import { RECORD_SCHEMA, type ProbeRecord } from '../protocol.ts';
import type { Bench } from './bench.ts';
import { chainOf, dependentDispatch } from './dependent.ts';
import { submitMap, submitWait } from './latency.ts';
import { readSizes, readStream, type ReadStreamRow } from './read-stream.ts';
import { timestampTrust } from './trust.ts';

/** After this long each measurement stops at its first sample. */
const BUDGET_MS = 10_000;

/** Marks a pass and reads its end, and no more: two stamps. */
const STAMPS = 2;

/** The probe's tools on a device, with its timestamps judged. */
export async function openBench(gpu: Gpu): Promise<{ bench: Bench; timestamps: ProbeRecord['timestamps'] }> {
  const started = performance.now();
  const [stream, programs] = [new Stream(gpu), programsFor(gpu)];
  const mark = (await chainOf(gpu, programs, 2)).dispatches[0]!;
  const late = (): boolean => performance.now() - started > BUDGET_MS;
  const tools = { gpu, stream, programs, stamps: hasTimestamps(gpu) ? new Stamps(gpu, STAMPS) : undefined, mark, late };
  const timestamps = await timestampTrust(tools, readSizesOf(gpu).findLast((bytes) => bytes <= 64 << 20) ?? 1 << 20);
  return { bench: { ...tools, trusted: timestamps.trusted }, timestamps };
}

/** Bytes of the buffers that are read on this device, smallest first. */
export function readSizesOf({ device, adapter }: Gpu): number[] {
  return readSizes(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize, adapter.evidence === 'software');
}

/** Reads buffers of the sizes that fit the device. @throws EngineRefused when it has memory for none. */
export async function readStreams(bench: Bench): Promise<[ReadStreamRow, ...ReadStreamRow[]]> {
  const rows: ReadStreamRow[] = [];
  for (const bytes of readSizesOf(bench.gpu)) {
    if (rows.length > 0 && bench.late()) break;
    const row = await readStream(bench, bytes);
    if (row) rows.push(row);
  }
  const [first, ...others] = rows;
  if (!first) throw new EngineRefused(`${bench.gpu.adapter.name} has no memory for a buffer of 1 MiB`, 'end what else uses the device');
  return [first, ...others];
}

/** The read stream of the largest buffer alone, in GB/s. @throws EngineRefused when the device has no memory for it. */
export async function readCeiling(bench: Bench): Promise<number> {
  const bytes = readSizesOf(bench.gpu).at(-1) ?? 0;
  const row = bytes === 0 ? undefined : await readStream(bench, bytes);
  if (!row) throw new EngineRefused(`${bench.gpu.adapter.name} has no memory for a read stream of ${bytes} bytes`, 'end what else uses the device');
  return row.gbPerS;
}

/** Runs every measurement. */
export async function probe(gpu: Gpu): Promise<ProbeRecord> {
  const started = performance.now();
  const { bench, timestamps } = await openBench(gpu);
  const rows = await readStreams(bench);
  const dispatch = await dependentDispatch(bench);
  const [wait, map] = [await submitWait(bench), await submitMap(bench)];
  bench.stamps?.destroy();
  return {
    schema: RECORD_SCHEMA,
    kind: 'probe',
    adapter: gpu.adapter.name,
    clock: timestamps.trusted ? 'timestamp' : 'wall',
    timestamps,
    readStream: rows,
    readCeilingGbPerS: (rows.at(-1) ?? rows[0]).gbPerS,
    dispatch,
    submitWait: wait,
    submitMap: map,
    probeMs: performance.now() - started,
  };
}
