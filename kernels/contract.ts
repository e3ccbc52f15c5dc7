/**
 * What a kernel is. A kernel never touches a GPU: its host wrapper turns a shape into a `Launch`, which is plain data, and
 * the engine compiles, binds and dispatches it. That keeps kernels importable by anything (references, contracts, lint)
 * and leaves one place where WebGPU is called.
 */

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

export type KernelGroup = 'projection' | 'pointwise' | 'datamove' | 'attention' | 'gdn' | 'greedy';

/** A shape is a flat record of positive integers with the kernel's own names (rows, n, k, heads…). */
export type Shape = Readonly<Record<string, number>>;

/** One kernel: the host side of NAME.wgsl. */
export interface Kernel<S extends Shape = Shape> {
  readonly name: string;
  readonly group: KernelGroup;
  /** What it computes, one sentence with the formula. */
  readonly summary: string;
  readonly bindings: readonly BindingSpec[];
  /** Snippets of kernels/shared/ that are put before NAME.wgsl. */
  readonly includes: readonly string[];
  /** Every variant; the first is the default. Variants in one family are byte-identical to each other. */
  readonly variants: readonly string[];
  /** Element count of each storage binding for a shape (in elements of its `type`). */
  sizes(shape: S): Readonly<Record<string, number>>;
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
