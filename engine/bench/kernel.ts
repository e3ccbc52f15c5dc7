/**
 * `bench --kernel`: variants of one kernel on one shape, in one process and interleaved, so that what the machine does meanwhile falls on
 * all of them alike. Their outputs are compared bitwise first: a fast variant that computes something else is no variant.
 */
import type { Kernel } from '../../kernels/contract.ts';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { loadRegistry } from '../../kernels/registry.ts';
import { select } from '../contract/select.ts';
import { subgroupsText, usesSubgroups } from '../decode/ran.ts';
import { EngineRefused, EngineUsage } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { kernelSource } from '../gpu/kernel-source.ts';
import { refuseUnlessServed } from '../gpu/needs.ts';
import { openGpuAnywhere } from '../gpu/relaunch.ts';
import type { Bench } from '../probe/bench.ts';
import { openBench, readSizesOf } from '../probe/probe.ts';
import { readStream } from '../probe/read-stream.ts';
import { RECORD_SCHEMA, type BenchRecord } from '../protocol.ts';
import type { Session } from '../session.ts';
import { benchSubject, launchesOf, type BenchSubject } from './subject.ts';
import { measureVariants } from './variants.ts';

export interface KernelBenchOptions {
  readonly kernel: string;
  readonly shape?: string | undefined;
  readonly rounds: number;
  /** Only the variant that decode would run with these settings, as one RESULT line. */
  readonly result?: boolean | undefined;
  readonly adapter?: string | undefined;
  readonly allowSoftware?: boolean | undefined;
}

/** Runs `bench`. @throws EngineUsage for an unknown kernel or shape; EngineRefused when no variant runs here. */
export async function kernelBench({ emit, print, settings }: Session, options: KernelBenchOptions): Promise<void> {
  const [entry] = select(await loadRegistry(), { kernel: options.kernel }).contracted;
  if (!entry) throw new EngineUsage(`${options.kernel} has no contract, so no shapes`);
  const subject = benchSubject(entry.contract, options.shape);
  const { needs } = entry.kernel;
  const gpu = await openGpuAnywhere({ adapter: options.adapter, allowSoftware: options.allowSoftware ?? false, needs: needs === undefined ? [] : [needs] });
  emit(gpu.adapter);
  if (needs !== undefined) refuseUnlessServed(gpu, needs, entry.kernel.name);
  const only = options.result ? servedVariant(entry.contract.kernel, settings) : undefined;
  const record = await benchVariants(gpu, subject, options.rounds, only);
  emit(record);
  for (const line of options.result ? resultLines(record) : benchLines(record, gpu.adapter.evidence)) print(line);
}

/** The variant that decode runs for one row. */
function servedVariant(kernel: Kernel, settings: Readonly<Record<string, string>>): string | undefined {
  return kernel.name === qmmQ4.name ? settings['qmm'] : kernel.variants[0];
}

/** A `lines` suite's line: what was computed, and the time in a field of its own. No variant, so that arms of one family read alike. */
export function resultLines({ kernel, shape, variants }: BenchRecord): string[] {
  return variants.map(({ ms, outputSha256 }) => `RESULT bench kernel=${kernel} shape="${shape.name}" output=${outputSha256} call_ms=${ms.toFixed(6)}`);
}

/** Compares and times the variants, or only one. @throws EngineRefused when none runs here. */
export async function benchVariants(gpu: Gpu, subject: BenchSubject, rounds: number, only?: string): Promise<BenchRecord> {
  const all = launchesOf(subject, gpu.adapter.limits);
  const launches = all.launches.filter(({ variant }) => variant === (only ?? variant));
  const refused = all.refused.filter(({ variant }) => variant === (only ?? variant));
  if (launches.length === 0)
    throw new EngineRefused(
      `no variant of ${subject.contract.kernel.name} runs ${subject.name} here: ${refused.map(({ why }) => why).join('; ')}`,
      'name another --shape',
    );
  const { bench, timestamps } = await openBench(gpu);
  const { bytes, copies, variants } = await measureVariants(bench, subject, launches, rounds);
  const ceiling = await ceilingFor(bench, bytes * copies);
  bench.stamps?.destroy();
  return {
    schema: RECORD_SCHEMA,
    kind: 'bench',
    adapter: gpu.adapter.name,
    kernel: subject.contract.kernel.name,
    shape: { name: subject.name, fields: { ...subject.shape } },
    fill: subject.fill.name,
    clock: timestamps.trusted ? 'timestamp' : 'wall',
    rounds,
    copies,
    bytes,
    ceiling,
    variants: variants.map((figures) => {
      const gbPerS = bytes / figures.ms / 1e6;
      return { ...figures, gbPerS, share: gbPerS / ceiling.gbPerS };
    }),
    subgroups: subgroupsText(usesSubgroups(kernelSource(subject.contract.kernel).text) ? [subject.contract.kernel.name] : []),
    refused,
  };
}

/** The read stream of the smallest probed size that holds what the calls go round, or of the largest. */
async function ceilingFor(bench: Bench, bytes: number): Promise<BenchRecord['ceiling']> {
  const sizes = readSizesOf(bench.gpu);
  const size = sizes.find((each) => each >= bytes) ?? sizes.at(-1);
  const row = size === undefined ? undefined : await readStream(bench, size);
  if (!row) throw new EngineRefused(`${bench.gpu.adapter.name} has no memory for a read stream of ${size ?? 0} bytes`, 'end what else uses the device');
  return { bytes: row.bytes, gbPerS: row.gbPerS };
}

/** The record for people. */
function benchLines(record: BenchRecord, evidence: string): string[] {
  const { ceiling, variants, refused } = record;
  return [
    `bench of ${record.kernel}, ${record.shape.name}, on ${record.adapter} (${evidence}), by ${record.clock}; ${record.bytes} bytes a call, ${record.copies} copies, ${record.rounds} rounds`,
    `read ceiling ${ceiling.gbPerS.toFixed(1)} GB/s (${ceiling.bytes >> 20} MiB)`,
    ...variants.map(
      ({ variant, family, ms, bestMs, gbPerS, share, sameInFamily }) =>
        `${variant.padEnd(14)} ${ms.toFixed(5).padStart(10)} ms (best ${bestMs.toFixed(5)})  ${gbPerS.toFixed(1).padStart(8)} GB/s  ${(100 * share).toFixed(1).padStart(5)} %  ${family}${sameInFamily ? '' : '  OUTPUT DIFFERS from the family’s first'}`,
    ),
    ...refused.map(({ variant, why }) => `${variant.padEnd(14)} refused: ${why}`),
  ];
}
