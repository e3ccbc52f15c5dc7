/**
 * `bench --kernel`: variants of one kernel on one shape, in one process and interleaved, so that what the machine does meanwhile falls on
 * all of them alike. Their outputs are compared bitwise first: a fast variant that computes something else is no variant.
 */
import { createHash } from 'node:crypto';
import type { Contents, Kernel, Launch } from '../../kernels/contract.ts';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { loadRegistry } from '../../kernels/registry.ts';
import { CaseRun } from '../contract/case-run.ts';
import { withoutGuards } from '../contract/guards.ts';
import { select } from '../contract/select.ts';
import { EngineRefused, EngineUsage } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Dispatch } from '../gpu/programs.ts';
import { openGpuAnywhere } from '../gpu/relaunch.ts';
import { timeDispatches } from '../gpu/time-dispatches.ts';
import type { Bench } from '../probe/bench.ts';
import { openBench, readSizesOf } from '../probe/probe.ts';
import { readStream } from '../probe/read-stream.ts';
import { RECORD_SCHEMA, type BenchRecord } from '../protocol.ts';
import type { Session } from '../session.ts';
import { median } from '../statistics.ts';
import { benchSubject, contentsOf, familyOf, launchesOf, type BenchSubject } from './subject.ts';

export interface KernelBenchOptions {
  readonly kernel: string;
  readonly shape?: string | undefined;
  readonly rounds: number;
  /** Only the variant that decode would run with these settings, as one RESULT line. */
  readonly result?: boolean | undefined;
  readonly adapter?: string | undefined;
  readonly allowSoftware?: boolean | undefined;
}

/** A GPU's calls go round copies of the buffers that together are larger than its caches, as a token's weights are. */
const COLD_BYTES = 256 << 20;
const MOST_COPIES = 64;

/** One sample lasts about this long, so that latencies are small in it. */
const SAMPLE_MS = 20;
const MOST_REPEATS = 1024;

/** Runs `bench`. @throws EngineUsage for an unknown kernel or shape; EngineRefused when no variant runs here. */
export async function kernelBench({ emit, print, settings }: Session, options: KernelBenchOptions): Promise<void> {
  const [entry] = select(await loadRegistry(), { kernel: options.kernel }).contracted;
  if (!entry) throw new EngineUsage(`${options.kernel} has no contract, so no shapes`);
  const subject = benchSubject(entry.contract, options.shape);
  const gpu = await openGpuAnywhere({ adapter: options.adapter, allowSoftware: options.allowSoftware ?? false });
  emit(gpu.adapter);
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
  const contents = contentsOf(subject);
  const digests = await outputDigests(bench, subject, contents, launches);
  const sizes = subject.contract.kernel.sizes(subject.shape);
  const bytes = subject.contract.kernel.bindings.reduce((sum, { name }) => sum + sizes[name]! * 4, 0);
  const copies = gpu.adapter.evidence === 'software' ? 1 : Math.max(1, Math.min(MOST_COPIES, Math.ceil(COLD_BYTES / bytes)));
  const samples = await timeVariants(bench, subject, contents, launches, copies, rounds);
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
    variants: launches.map(({ variant }, index) => {
      const ms = median(samples[index]!);
      const gbPerS = bytes / ms / 1e6;
      const family = familyOf(subject, variant);
      const first = launches.findIndex((other) => familyOf(subject, other.variant) === family);
      const figures = { ms, bestMs: Math.min(...samples[index]!), gbPerS, share: gbPerS / ceiling.gbPerS };
      return { variant, family, ...figures, outputSha256: digests[index]!, sameInFamily: digests[index] === digests[first] };
    }),
    refused,
  };
}

/** SHA-256 of each variant's outputs, all from the same start. */
async function outputDigests({ gpu }: Bench, { contract, shape }: BenchSubject, contents: Contents, launches: readonly Launch[]): Promise<string[]> {
  const run = new CaseRun(gpu, contract.kernel, shape, contents);
  try {
    const digests: string[] = [];
    for (const launch of launches) {
      const hash = createHash('sha256');
      for (const words of Object.values(await run.launch(launch))) hash.update(withoutGuards(words));
      digests.push(hash.digest('hex'));
    }
    return digests;
  } finally {
    run.close();
  }
}

/** Milliseconds of one call, by variant and round. Each round begins with the next variant. */
async function timeVariants(
  bench: Bench,
  { contract, shape }: BenchSubject,
  contents: Contents,
  launches: readonly Launch[],
  copies: number,
  rounds: number,
): Promise<number[][]> {
  const { gpu, stream, programs } = bench;
  const sets = Array.from({ length: copies }, () => buffersOf(gpu.device, contract.kernel, contract.kernel.sizes(shape), contents));
  try {
    const bound: Dispatch[][] = [];
    for (const launch of launches) {
      const program = await programs.compile(contract.kernel, launch);
      bound.push(sets.map((buffers) => programs.bind(program, launch, buffers)));
    }
    const sample = async (dispatches: readonly Dispatch[], repeats: number): Promise<number> => {
      const run = Array.from({ length: repeats }, (_, index) => dispatches[index % copies]!);
      const { gpuMs, wallMs } = await timeDispatches(gpu, stream, bench.stamps, bench.mark, run);
      return (bench.trusted ? gpuMs! : wallMs) / repeats;
    };
    // One call each first: what a driver does late is done then, and how long a sample must be is known.
    const repeats: number[] = [];
    for (const dispatches of bound) {
      await sample(dispatches, 1);
      const few = Math.max(4, copies);
      repeats.push(Math.max(1, Math.min(MOST_REPEATS, Math.ceil(SAMPLE_MS / Math.max(1e-4, await sample(dispatches, few))))));
    }
    const samples = launches.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < launches.length; turn++) {
        const index = (round + turn) % launches.length;
        samples[index]!.push(await sample(bound[index]!, repeats[index]!));
      }
    }
    return samples;
  } finally {
    for (const set of sets) for (const buffer of Object.values(set)) buffer.destroy();
  }
}

function buffersOf(device: GPUDevice, kernel: Kernel, sizes: Readonly<Record<string, number>>, contents: Contents): Record<string, GPUBuffer> {
  const made = kernel.bindings.map(({ name }): [string, GPUBuffer] => {
    const buffer = device.createBuffer({ label: `bench ${name}`, size: sizes[name]! * 4, usage: GPUBufferUsage.STORAGE, mappedAtCreation: true });
    const given = contents[name];
    if (given) new Uint32Array(buffer.getMappedRange()).set(new Uint32Array(given.buffer, given.byteOffset, given.length));
    buffer.unmap();
    return [name, buffer];
  });
  return Object.fromEntries(made);
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
