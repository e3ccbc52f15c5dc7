/** `probe`: what the device can do, as a record and as lines for people. */
import { openGpuAnywhere } from '../gpu/relaunch.ts';
import type { ProbeRecord } from '../protocol.ts';
import type { Session } from '../session.ts';
import { probe } from './probe.ts';

export interface ProbeOptions {
  readonly adapter?: string | undefined;
  readonly allowSoftware?: boolean | undefined;
}

/** Runs `probe`. @throws EngineRefused, EngineBroken, EngineTimeout. */
export async function probeCommand({ emit, print }: Session, { adapter, allowSoftware = false }: ProbeOptions): Promise<void> {
  const gpu = await openGpuAnywhere({ adapter, allowSoftware });
  emit(gpu.adapter);
  const record = await probe(gpu);
  emit(record);
  for (const line of probeLines(record, gpu.adapter.evidence)) print(line);
}

/** The record for people. */
export function probeLines(record: ProbeRecord, evidence: string): string[] {
  const { timestamps, dispatch, submitWait, submitMap } = record;
  const trust = timestamps.trusted ? 'trusted' : `not trusted: ${timestamps.why}`;
  const ratio = timestamps.ratio === null ? '' : ` (${timestamps.ratio.toFixed(3)} of wall time)`;
  const us = ({ p50Us, p99Us }: ProbeRecord['submitWait']): string => `p50 ${p50Us.toFixed(1)} µs  p99 ${p99Us.toFixed(1)} µs`;
  return [
    `probe of ${record.adapter} (${evidence}), device times by ${record.clock}`,
    `timestamps          ${trust}${ratio}`,
    ...record.readStream.map(({ bytes, gbPerS, ms }) => `read ${`${bytes >> 20} MiB`.padStart(8)}       ${gbPerS.toFixed(1)} GB/s  ${ms.toFixed(4)} ms`),
    `read ceiling        ${record.readCeilingGbPerS.toFixed(1)} GB/s`,
    `dependent dispatch  ${dispatch.gpuUs === null ? '' : `GPU ${dispatch.gpuUs.toFixed(2)} µs  `}host ${dispatch.hostUs.toFixed(2)} µs  in all ${dispatch.wallUs.toFixed(2)} µs`,
    `submit and wait     ${us(submitWait)}`,
    `submit and map      ${us(submitMap)}`,
    `took ${(record.probeMs / 1000).toFixed(1)} s`,
  ];
}
