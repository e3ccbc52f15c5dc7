/** What variants of one kernel leave and take on one shape, in one process: compared bit for bit, then timed in turn. */
import { createHash } from 'node:crypto';
import type { Contents, Kernel, Launch } from '../../kernels/contract.ts';
import { CaseRun } from '../contract/case-run.ts';
import { withoutGuards } from '../contract/guards.ts';
import { touchedBytes } from '../decode/step.ts';
import type { Dispatch } from '../gpu/programs.ts';
import { timeDispatches } from '../gpu/time-dispatches.ts';
import type { Bench } from '../probe/bench.ts';
import { median } from '../statistics.ts';
import { contentsOf, familyOf, type BenchSubject } from './subject.ts';

/** A GPU's calls go round copies of the buffers that together are larger than its caches, as a token's weights are. */
const COLD_BYTES = 256 << 20;
const MOST_COPIES = 64;

/** One sample lasts about this long, so that latencies are small in it. */
const SAMPLE_MS = 20;
const MOST_REPEATS = 1024;

/** Figures of one variant. */
export interface VariantFigures {
  readonly variant: string;
  readonly family: string;
  /** One call; median over rounds. */
  readonly ms: number;
  readonly bestMs: number;
  readonly outputSha256: string;
  /** Whether the outputs are bit for bit those of the family's first variant. */
  readonly sameInFamily: boolean;
}

/** Variants on one shape, and what a call of any of them binds. */
export interface Measured {
  readonly bytes: number;
  /** Sets of buffers that the calls went round. */
  readonly copies: number;
  readonly variants: VariantFigures[];
}

/** Compares and times launches of one shape, `rounds` samples each. @throws EngineBroken, EngineTimeout; ShaderInvalid. */
export async function measureVariants(bench: Bench, subject: BenchSubject, launches: readonly Launch[], rounds: number): Promise<Measured> {
  const { kernel } = subject.contract;
  const contents = contentsOf(subject);
  const digests = await outputDigests(bench, subject, contents, launches);
  const bytes = touchedBytes(kernel, subject.shape);
  const copies = bench.gpu.adapter.evidence === 'software' ? 1 : Math.max(1, Math.min(MOST_COPIES, Math.ceil(COLD_BYTES / bytes)));
  const samples = await timeVariants(bench, subject, contents, launches, copies, rounds);
  const variants = launches.map(({ variant }, index): VariantFigures => {
    const family = familyOf(subject, variant);
    const first = launches.findIndex((other) => familyOf(subject, other.variant) === family);
    const times = { ms: median(samples[index]!), bestMs: Math.min(...samples[index]!) };
    return { variant, family, ...times, outputSha256: digests[index]!, sameInFamily: digests[index] === digests[first] };
  });
  return { bytes, copies, variants };
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
  const sizes = contract.kernel.sizes(shape);
  const sets: Record<string, GPUBuffer>[] = [];
  for (let copy = 0; copy < copies; copy++) sets.push(buffersOf(gpu.device, contract.kernel, sizes, contents, sets[0]));
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
      const few = gpu.adapter.evidence === 'software' ? 1 : Math.max(4, copies);
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

/**
 * One set of buffers. The smallest that is written is one for all sets, so that each call waits for the one before it, as the dispatches of
 * a token do: calls that ran side by side would hide how little of a device a small one fills.
 */
function buffersOf(
  device: GPUDevice,
  kernel: Kernel,
  sizes: Readonly<Record<string, number>>,
  contents: Contents,
  first: Readonly<Record<string, GPUBuffer>> | undefined,
): Record<string, GPUBuffer> {
  const [common] = kernel.bindings.filter(({ access }) => access === 'read_write').toSorted((a, b) => sizes[a.name]! - sizes[b.name]!);
  const made = kernel.bindings.map(({ name }): [string, GPUBuffer] => {
    if (first && name === common?.name) return [name, first[name]!];
    const buffer = device.createBuffer({ label: `bench ${name}`, size: sizes[name]! * 4, usage: GPUBufferUsage.STORAGE, mappedAtCreation: true });
    const given = contents[name];
    if (given) new Uint32Array(buffer.getMappedRange()).set(new Uint32Array(given.buffer, given.byteOffset, given.length));
    buffer.unmap();
    return [name, buffer];
  });
  return Object.fromEntries(made);
}
