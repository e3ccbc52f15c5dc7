/**
 * What a kernel is. A kernel never touches a GPU: its host wrapper turns a shape into a `Launch`, which is plain data, and
 * the engine compiles, binds and dispatches it. That keeps kernels importable by anything (references, contracts, lint)
 * and leaves one place where WebGPU is called.
 */

import type { Random } from './random.ts';

/** `params` is the uniform block (always the last binding); the others are whole, separate storage buffers. */
export type Access = 'read' | 'read_write';

/** Storage binding `index` of group 0, as declared in the WGSL. Inputs are `read`, so that Dawn tracks no false hazards. */
export interface BindingSpec {
  readonly name: string;
  readonly access: Access;
  /** Element type of the WGSL array. bf16 and 4-bit codes travel as u32. */
  readonly type: 'f32' | 'u32';
}

/** Everything one dispatch needs. Plain data; equal launches share a pipeline. */
export interface Launch {
  readonly kernel: string;
  readonly variant: string;
  readonly entryPoint: string;
  /** WGSL pipeline overrides. */
  readonly constants: Readonly<Record<string, number>>;
  /** The uniform block's words, in the WGSL struct's order, bound after the storage bindings. Empty: no uniform. */
  readonly params: Uint32Array;
  readonly workgroups: readonly [number, number, number];
  readonly workgroupSize: readonly [number, number, number];
  /** Bytes of var<workgroup> memory, for the limits gate. */
  readonly workgroupBytes: number;
}

export type KernelGroup = 'projection' | 'pointwise' | 'datamove' | 'attention' | 'gdn' | 'greedy' | 'fused' | 'matrix';

/**
 * What a kernel needs of a device beyond what every device has. Where it is absent the kernel is skipped: neither passed nor failed.
 * `subgroup-matrix`: products of 16 by 16 by 16 halves with float32 sums, by subgroups of 32 lanes.
 */
export type DeviceNeed = 'subgroup-matrix';

/** One field of the uniform block, as declared in the WGSL struct. */
export interface ParamSpec {
  readonly name: string;
  readonly type: 'u32' | 'f32';
}

/** A shape is a flat record of numbers with the kernel's own names (rows, n, k, heads, eps…). */
export type Shape = Readonly<Record<string, number>>;

/** One kernel: the host side of NAME.wgsl. */
export interface Kernel<S extends Shape = Shape> {
  readonly name: string;
  readonly group: KernelGroup;
  /** What it computes, one sentence with the formula. */
  readonly summary: string;
  readonly bindings: readonly BindingSpec[];
  /** Absent: it runs on every device. The engine writes the `enable` directives that this takes before the shader. */
  readonly needs?: DeviceNeed;
  /** Snippets of kernels/shared/ that are put before NAME.wgsl. */
  readonly includes: readonly string[];
  /** The uniform block's fields in the WGSL struct's order; `packParams` turns them into words. */
  readonly params: readonly ParamSpec[];
  /** Every variant; the first is the default. Variants in one family are byte-identical to each other. */
  readonly variants: readonly string[];
  /** Element count of each storage binding for a shape (in elements of its `type`). */
  sizes(shape: S): Readonly<Record<string, number>>;
  /** Elements of a binding that a launch touches, where that is fewer than its size: a part of each row of a wider matrix. */
  touched?(shape: S): Readonly<Record<string, number>>;
  /** @throws LaunchRefused for a shape that this variant does not serve. */
  launch(shape: S, variant?: string): Launch;
}

/** A variant declines a shape (an edge). A served shape may never be refused. */
export class LaunchRefused extends Error {
  override readonly name = 'LaunchRefused';
}

/** A float32's bits as a u32 word, for `Launch.params`. */
export function f32Bits(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0]!;
}

/**
 * A launch's `params` from the declared layout.
 * @throws Error when a field has no value: a layout and its launch disagree.
 */
export function packParams(specs: readonly ParamSpec[], values: Readonly<Record<string, number>>): Uint32Array {
  return Uint32Array.from(specs, ({ name, type }) => {
    const value = values[name];
    if (value === undefined) throw new Error(`uniform field ${name} has no value; the launch gives ${Object.keys(values).join(', ')}`);
    return type === 'f32' ? f32Bits(value) : value;
  });
}

/** Contents by binding name: every `read` binding, and each `read_write` binding whose contents matter before the launch. */
export type Contents = Readonly<Record<string, Float32Array | Uint32Array>>;

/**
 * What a fill is for. `spread`: operands spanning decades. `exact`: dyadic operands whose every product and partial sum
 * fits 24 bits, so that outputs are bit-equal in any order, fused or not. `stress`: a sum that a 16-bit accumulator gets
 * wrong by far. `classes`: NaN, infinities, both zeros and subnormals.
 */
export type FillKind = 'spread' | 'exact' | 'stress' | 'classes';

/** One way to fill a kernel's inputs. Everything random comes from `random`, so that a printed seed replays it. */
export interface Fill<S extends Shape = Shape> {
  readonly name: string;
  readonly kind: FillKind;
  make(shape: S, random: Random): Contents;
}

/**
 * A shape under contract. `served`: the engine launches it, so no variant may refuse it. `edge`: a variant may refuse it
 * (counted), and must be right where it does not.
 */
export interface ContractShape<S extends Shape = Shape> {
  readonly name: string;
  readonly role: 'served' | 'edge';
  readonly shape: S;
  /** Names of the fills to run; absent: all. Large shapes name the one or two that show most. */
  readonly fills?: readonly string[];
  /** Names of the variants to run; absent: all. For shapes that are large for the sake of some. The limits gate asks all. */
  readonly variants?: readonly string[];
}

/**
 * What one output must hold, element for element. `exact`: these bits. `bounded`: |out − value| ≤ spec, else the gate
 * fails; over `depth`, which follows from the shader's own reduction depth, it alarms. A NaN or infinite value asks
 * for that class; the sign of a zero counts in exact outputs only, since WGSL lets a driver ignore it. `kept` marks (1) the
 * elements that the launch must leave as they were.
 */
export type Expected = ExactOutput | BoundedOutput;

export interface ExactOutput {
  readonly kind: 'exact';
  readonly bits: Uint32Array;
  readonly kept?: Uint8Array;
}

export interface BoundedOutput {
  readonly kind: 'bounded';
  readonly values: Float64Array;
  readonly spec: Float64Array;
  readonly depth: Float64Array;
  readonly kept?: Uint8Array;
}

/** Accumulator formats that gate 4 replays. */
export type SumFormat = 'fp16' | 'bf16';

/** One sum of a kernel, repeated on the host in a given accumulator, to show that the bound tells a worse one apart. */
export interface SumPart<S extends Shape = Shape> {
  readonly name: string;
  readonly shape: S;
  /** Name of the fill, of kind `stress`. */
  readonly fill: string;
  /** The bounded output that the sum ends in. */
  readonly output: string;
  readonly family: string;
  /** The output with every addition's result passed through `round`, in the shader's order. */
  replay(shape: S, contents: Contents, round: (value: number) => number): Float64Array;
  /** Formats that this part cannot tell from f32, each with its reason. */
  readonly cannot?: Readonly<Partial<Record<SumFormat, string>>>;
}

/** What a kernel promises. Its float64 reference is written from the definition in NAME.reference.ts, not from the shader. */
export interface Contract<S extends Shape = Shape> {
  readonly kernel: Kernel<S>;
  /** What is computed, in prose: formula, layouts, documented results at the edges. */
  readonly meaning: string;
  /** Where the bounds come from, in prose. */
  readonly bounds: string;
  /** Every variant in exactly one family; variants of one family are byte-identical to each other. */
  readonly families: Readonly<Record<string, readonly string[]>>;
  readonly shapes: readonly ContractShape<S>[];
  readonly fills: readonly Fill<S>[];
  /** Kinds of fill that this contract has none of, each with its reason. Every kind is in `fills` or here. */
  readonly absent?: Readonly<Partial<Record<FillKind, string>>>;
  /** Expected contents of every `read_write` binding after the launch. Bounds may differ by family. */
  expect(shape: S, contents: Contents, family: string): Readonly<Record<string, Expected>>;
  /** The sums of the kernel, or why it has none. */
  readonly sums: readonly SumPart<S>[] | { readonly none: string };
}

/**
 * A planted fault: one line of the shipped WGSL changed so that the named gate must go red. `find` must occur exactly once
 * in its file, so that a control cannot drift from the shader; the edited shader must compile.
 */
export interface Control {
  readonly name: string;
  readonly gate: 1 | 2 | 3 | 4;
  /** `shared/NAME.wgsl`, an include of the kernel; absent: its own NAME.wgsl. */
  readonly file?: `shared/${string}.wgsl`;
  readonly find: string;
  readonly replace: string;
  /** The family whose variants the fault is in, where no other can show it: gates 2 and 3 then run no others. */
  readonly family?: string;
  /** The variants that the fault is in, where no other can show it and it takes no comparison with another: as `family`, but these alone. */
  readonly variants?: readonly string[];
}
