/**
 * No shader of the registry has two lanes of a workgroup touch the same bytes, one of them writing, without a barrier in
 * between: wgsl_reflect's lockstep emulator runs every entry point under small shapes of its contract.
 *
 * The emulator steps over a barrier that is the first statement of a block (WgslDebug.stepStack enters the block and
 * executes its first statement in one step), and would report races there that do not exist. Shaders therefore put the
 * barrier of a loop at the end of its body.
 */
import { expect, test } from 'vitest';
import { detectRaces } from 'wgsl_reflect/wgsl_reflect.module.js';
import type { Contract, ContractShape, Kernel, Launch } from '../../kernels/contract.ts';
import { Random } from '../../kernels/random.ts';
import { loadRegistry, type RegistryEntry } from '../../kernels/registry.ts';
import { kernelSource } from '../gpu/kernel-source.ts';
import { launchOf, sizeOf } from './subject.ts';

/** Elements of the shapes run: enough for several rounds of every loop, few enough that pairs of accesses can be compared. */
const ELEMENTS = 700;
const shape = (name: string, sizes: ContractShape['shape']): ContractShape => ({ name, role: 'served', shape: sizes });

/** Shapes besides, for loops that no small shape of the contract enters twice. */
const BESIDES: Readonly<Record<string, readonly ContractShape[]>> = {
  'sdpa-decode': [shape('wide head', { rows: 1, heads: 1, kvHeads: 1, headDim: 264, context: 4 })],
  'sdpa-prefill': [shape('two slabs', { rows: 1, heads: 1, kvHeads: 1, headDim: 33, context: 2 })],
  'rows-to-halves': [shape('two rounds', { rows: 1, k: 2112, parts: 1 })],
  // Rows of two stages.
  'qmm-q4': [shape('two stages', { rows: 1, n: 1, k: 2112 })],
  'qmm-q4-add': [shape('two stages', { n: 1, k: 2112 })],
  'norm-qmm-q4': [shape('two stages', { n: 1, k: 2112, eps: 1e-6 }), shape('two blocks', { n: 4097, k: 64, eps: 1e-6 })],
  'norm-gate-up-q4': [shape('two stages', { n: 1, k: 2112, upRow: 1, eps: 1e-6 }), shape('two blocks', { n: 2049, k: 64, upRow: 2049, eps: 1e-6 })],
  'sdpa-merge-gate': [shape('weights twice', { heads: 1, headDim: 1, context: 2145 })],
  // Answers of more than 64 values pass from lane to lane.
  'gdn-step': [shape('wide values', { kHeads: 1, vHeads: 1, dk: 32, dv: 65, taps: 2, width: 196, zOffset: 129, aOffset: 194, bOffset: 195, eps: 1e-6 })],
  'gdn-prefill-chunked': [shape('two chunks', { rows: 18, kHeads: 1, vHeads: 1, dk: 8, dv: 8, vStride: 8, vOffset: 0 })],
};

/** Shapes in place of the contract's, for kernels in ACCEPTED: on these they must be clean. */
const INSTEAD: Readonly<Record<string, readonly ContractShape[]>> = {
  'gdn-chunk-prepare': [shape('whole chunk', { rows: 16, kHeads: 1, vHeads: 1, dk: 68 })],
};

/** Findings that are accepted: only these buffers, only two writes, and they must still be found. */
const ACCEPTED: Readonly<Record<string, { readonly shape: ContractShape; readonly buffers: readonly string[]; readonly reason: string }>> = {
  'gdn-chunk-prepare': {
    shape: shape('ragged chunk', { rows: 15, kHeads: 1, vHeads: 1, dk: 4 }),
    buffers: ['keys', 'lower', 'mixes', 'queries'],
    reason: 'lanes past the last row repeat it, so both writes store the same bits',
  },
};

/**
 * Entry points that the emulator cannot run, as it stores no component of a vector in an array. They come last in their file, so that the
 * barriers from them on are theirs.
 */
const BEYOND: Readonly<Record<string, string>> = { 'qmm-q4': 'tile' };

/** Kernels that the emulator cannot run at all. Their races are looked for by gate 2 alone, on a device that has what they need. */
const UNRUN: Readonly<Record<string, string>> = { 'qmm-q4-matrix': 'wgsl_reflect knows neither subgroups nor their matrices' };

const BARRIER = 'workgroupBarrier();';

interface Run {
  readonly name: string;
  readonly launch: Launch;
  readonly buffers: () => Record<string, unknown>;
}

const entries = (await loadRegistry()).filter(({ kernel }) => UNRUN[kernel.name] === undefined);

/** Runs of each variant: the smallest shape and the largest within ELEMENTS that it serves, and those of BESIDES. */
function runsOf({ kernel, contract }: RegistryEntry): Run[] {
  const instead = INSTEAD[kernel.name];
  if (instead) return instead.map((chosen) => runOf(kernel, contract!, kernel.variants[0]!, chosen));
  const shapes = contract!.shapes.toSorted((a, b) => sizeOf(contract!, a.shape) - sizeOf(contract!, b.shape));
  return kernel.variants
    .filter((variant) => variant !== BEYOND[kernel.name])
    .flatMap((variant) => {
      const served = shapes.filter((each) => !(launchOf(contract!, each.shape, variant) instanceof Error));
      const small = served.filter((each) => sizeOf(contract!, each.shape) <= ELEMENTS);
      return [...new Set([served[0]!, small.at(-1) ?? served[0]!, ...(BESIDES[kernel.name] ?? [])])].map((chosen) => runOf(kernel, contract!, variant, chosen));
    });
}

function runOf(kernel: Kernel, contract: Contract, variant: string, { name, shape: sized, fills }: ContractShape): Run {
  const launch = kernel.launch(sized, variant);
  const fill = contract.fills.find((each) => each.kind !== 'classes' && (fills?.includes(each.name) ?? true)) ?? contract.fills[0]!;
  const sizes = kernel.sizes(sized);
  const buffers = (): Record<string, unknown> => {
    const contents = fill.make(sized, new Random(1));
    const bound: Record<string, unknown> = {};
    for (const [index, spec] of kernel.bindings.entries()) {
      const words = new Uint32Array(sizes[spec.name]!);
      const from = contents[spec.name];
      if (from) words.set(new Uint32Array(from.buffer, from.byteOffset, Math.min(from.length, words.length)));
      bound[index] = words.buffer;
    }
    const block = new Uint32Array(Math.ceil(launch.params.length / 4) * 4);
    block.set(launch.params);
    if (launch.params.length > 0) bound[kernel.bindings.length] = { uniform: block.buffer };
    return bound;
  };
  return { name: `${kernel.name}/${variant}/${name}`, launch, buffers };
}

/** The text with overrides made constants: the emulator evaluates a module's constants in order, before it knows overrides. */
function settled(text: string, launch: Launch): string {
  const first: string[] = [];
  const rest = text
    .replaceAll(/^override\s+(\w+)\s*:\s*(\w+)\s*;/gm, (_, name: string, type: string) => {
      first.push(`const ${name}: ${type} = ${launch.constants[name]}${type === 'u32' ? 'u' : ''};`);
      return '';
    })
    .replaceAll(/^override\s+(\w+)\s*:\s*(\w+)\s*=[^;]*;/gm, (declaration, name: string, type: string) =>
      launch.constants[name] === undefined ? declaration : `const ${name}: ${type} = ${launch.constants[name]}${type === 'u32' ? 'u' : ''};`,
    )
    .replaceAll(/^const\s+\w+\s*=\s*\d+u;/gm, (declaration) => {
      first.push(declaration);
      return '';
    })
    .replaceAll(/^override\s/gm, 'const ');
  return `${first.join(' ')} ${rest}`;
}

function detect(run: Run, text: string): ReturnType<typeof detectRaces> {
  return detectRaces(settled(text, run.launch), run.launch.entryPoint, [1, 1, 1], { '0': run.buffers() });
}

/** What the emulator finds, first finding only; empty when nothing. */
function raceFault(run: Run, text: string): string {
  const { races, errors } = detect(run, text);
  return errors[0] ?? races[0]?.message ?? '';
}

/** The text without its barrier `number`, counted from 1. */
function withoutBarrier(text: string, number: number): string {
  const pieces = text.split(BARRIER);
  return pieces.slice(0, number).join(BARRIER) + pieces.slice(number).join(BARRIER);
}

const source = (entry: RegistryEntry): string => kernelSource(entry.kernel).text;

test.each(entries.map((entry) => ({ name: entry.kernel.name, entry })))('$name has no race', ({ entry }) => {
  for (const run of runsOf(entry)) expect(raceFault(run, source(entry)), run.name).toBe('');
});

const barriers = entries.flatMap((entry) =>
  source(entry)
    .split(BEYOND[entry.kernel.name] === undefined ? '\0' : `fn ${BEYOND[entry.kernel.name]}(`)[0]!
    .split(BARRIER)
    .slice(1)
    .map((_, number) => ({ name: entry.kernel.name, number: number + 1, entry })),
);

test.each(barriers)('$name without its barrier $number is flagged', ({ entry, number }) => {
  const text = withoutBarrier(source(entry), number);
  let found = '';
  for (const run of runsOf(entry)) if (!found.includes('Data race on')) found = raceFault(run, text);
  expect(found).toContain('Data race on');
});

test.each(Object.entries(ACCEPTED).map(([name, accepted]) => ({ name, ...accepted })))('$name: $reason', ({ name, shape: ragged, buffers }) => {
  const entry = entries.find(({ kernel }) => kernel.name === name)!;
  const { races, errors } = detect(runOf(entry.kernel, entry.contract!, entry.kernel.variants[0]!, ragged), source(entry));
  expect(errors).toEqual([]);
  expect(races.filter(({ a, b }) => a.kind === 'read' || b.kind === 'read')).toEqual([]);
  expect([...new Set(races.map(({ bufferId }) => bufferId))].toSorted()).toEqual(buffers);
});
