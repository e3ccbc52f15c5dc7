/**
 * Splitting a 4-bit matrix W [n, k] by its n columns of output where it is larger than one binding of the device: the codes of
 * Qwen3.5-2B's head are 254 MB, and the least that WebGPU promises is 128 MiB. Each part is a matrix of its own, bound alone.
 */
import { EngineRefused } from '../errors.ts';
import { tensorsOf, type QuantisedSpec, type WeightSpec } from './tensors.ts';

/**
 * Parts start at multiples of this: 64 float32 outputs are the 256 bytes that binding offsets must be a multiple of, and an even
 * number of groups keeps the bf16 pairs of each part whole.
 */
const COLUMNS = 64;

/**
 * What is served in parts: the table that is gathered from, and the head, which runs one row at a time. Another matrix also runs on
 * many rows, where the outputs of two parts would have to interleave.
 */
const IN_PARTS: ReadonlySet<string> = new Set(['model.embed_tokens', 'lm_head']);

/** Columns `start` … `start + n` of a matrix. */
export interface ColumnRange {
  readonly start: number;
  readonly n: number;
}

/** Bytes of the part of a matrix's largest tensor, its codes, that `columns` columns need. */
function codeBytes(spec: QuantisedSpec, columns: number): number {
  return (columns * spec.k) / 2;
}

/** The fewest parts of nearly equal size that fit `limit` bytes a binding; undefined when not even the smallest part does. */
export function columnRanges(spec: QuantisedSpec, limit: number): ColumnRange[] | undefined {
  if (codeBytes(spec, spec.n) <= limit) return [{ start: 0, n: spec.n }];
  const most = Math.floor(limit / codeBytes(spec, COLUMNS)) * COLUMNS;
  if (most === 0) return undefined;
  const columns = Math.ceil(spec.n / Math.ceil(spec.n / most) / COLUMNS) * COLUMNS;
  return Array.from({ length: Math.ceil(spec.n / columns) }, (_, part) => ({ start: part * columns, n: Math.min(columns, spec.n - part * columns) }));
}

/**
 * How every matrix is split on a device.
 * @param limit the most bytes that one binding takes.
 * @param device its name, for the refusal.
 * @throws EngineRefused naming the first tensor that fits no binding and that is not served in parts.
 */
export function planSplits(specs: readonly WeightSpec[], limit: number, device: string): Map<string, readonly ColumnRange[]> {
  const plan = new Map<string, readonly ColumnRange[]>();
  for (const spec of specs) {
    const ranges = spec.form === 'quantised' ? columnRanges(spec, limit) : undefined;
    const bytes = spec.form === 'quantised' ? codeBytes(spec, spec.n) : spec.shape.reduce((product, extent) => product * extent, 4);
    if (spec.form === 'vector' ? bytes > limit : !ranges || (ranges.length > 1 && !IN_PARTS.has(spec.name))) {
      throw new EngineRefused(
        `tensor ${tensorsOf(spec)[0]!.name} has ${bytes} bytes, and ${device} binds at most ${limit}`,
        'use another adapter (fleet engine devices) or a smaller model',
      );
    }
    if (ranges) plan.set(spec.name, ranges);
  }
  return plan;
}
