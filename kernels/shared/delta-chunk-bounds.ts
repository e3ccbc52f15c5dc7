/** Running error bounds of the delta rule by chunks of 16 rows: the decay between two rows, the mixes, and the walk over the chunks. */
import { FLUSH, gamma, U_NEAREST } from './bounds.ts';
import type { DeltaRuleInputs, DeltaRuleShape } from './delta-rule-contract.ts';
import { expRelative } from './sigmoid-bounds.ts';

/** Rows of a chunk. */
export const CHUNK_ROWS = 16;

/** A number and what its computed value may be off by. */
interface Off {
  readonly value: number;
  readonly error: number;
}

/** What one operation may be off by, relatively, and the roundings on the path of a dot of `dk` products. */
export interface Rounding {
  readonly u: number;
  readonly path: number;
}

function product(a: Off, b: Off, u: number): Off {
  const value = a.value * b.value;
  const error = Math.abs(a.value) * b.error + Math.abs(b.value) * a.error + a.error * b.error;
  return { value, error: error + u * (Math.abs(value) + error) + FLUSH * (Math.abs(a.value) + Math.abs(b.value) + a.error + b.error + 1) };
}

/** A sum of products: a running total that takes `roundings` on its longest path. */
function sumOfProducts(terms: Iterable<readonly [Off, Off]>, roundings: number, u: number): Off {
  let value = 0;
  let error = 0;
  let size = 0;
  for (const [a, b] of terms) {
    const term = product(a, b, 0);
    value += term.value;
    error += term.error;
    size += Math.abs(term.value) + term.error;
  }
  return { value, error: error + gamma(roundings, u) * size };
}

/** exp of the sum of log decays, all at most 0, of `count` rows: exp's own error, and that of its argument's additions. */
export function decayOf(logDecays: Iterable<number>, u: number): Off {
  let sum = 0;
  let count = 0;
  for (const each of logDecays) {
    sum += each;
    count++;
  }
  const value = Math.exp(sum);
  // |sum| past 110 makes the decay zero in float32 with room to spare, whatever either error.
  const size = Math.min(Math.abs(sum), 110);
  const argument = Math.expm1(gamma(Math.max(count - 1, 0), u) * size);
  return { value, error: value * (argument + expRelative(size) * (1 + argument)) + FLUSH };
}

/** Bounds of gdn-chunk-prepare's mixes, element for element. */
export function mixesBounds(
  shape: { readonly rows: number; readonly kHeads: number; readonly vHeads: number; readonly dk: number },
  inputs: Readonly<Record<'q' | 'k' | 'g' | 'beta', Float32Array>>,
  { u, path }: Rounding,
): Float64Array {
  const { rows, kHeads, vHeads, dk } = shape;
  const bounds = new Float64Array(rows * vHeads * 2 * CHUNK_ROWS);
  const exactly = (value: number): Off => ({ value, error: 0 });
  for (let head = 0; head < vHeads; head++) {
    const kHead = Math.floor((head * kHeads) / vHeads);
    const dot = (a: Float32Array, i: number, m: number): Off => {
      let value = 0;
      let size = 0;
      let flush = 0;
      for (let d = 0; d < dk; d++) {
        const x = a[(i * kHeads + kHead) * dk + d]!;
        const y = inputs.k[(m * kHeads + kHead) * dk + d]!;
        value += x * y;
        size += Math.abs(x * y);
        flush += FLUSH * (Math.abs(x) + Math.abs(y) + 1);
      }
      return { value, error: gamma(path, u) * size + flush };
    };
    for (let start = 0; start < rows; start += CHUNK_ROWS) {
      const solved: Off[][] = [];
      for (let i = start; i < Math.min(start + CHUNK_ROWS, rows); i++) {
        const place = (i * vHeads + head) * 2 * CHUNK_ROWS;
        const decay = (m: number): Off =>
          decayOf(
            Array.from({ length: i - m }, (_, t) => inputs.g[(m + 1 + t) * vHeads + head]!),
            u,
          );
        const lower: Off[] = [];
        for (let m = start; m <= i; m++) {
          const decayed = decay(m);
          bounds[place + CHUNK_ROWS + m - start] = finite(product(decayed, dot(inputs.q, i, m), u).error);
          if (m < i) lower.push(product(exactly(inputs.beta[i * vHeads + head]!), product(decayed, dot(inputs.k, i, m), u), u));
        }
        // T_im is the sum over t from m to i − 1 of −L_it·T_tm; T_ii is 1.
        const row = lower.map((_, m) =>
          sumOfProducts(
            lower.slice(m).map(({ value, error }, t): [Off, Off] => [{ value: -value, error }, solved[m + t]![m]!]),
            i - start - m + 1,
            u,
          ),
        );
        row.forEach(({ error }, m) => (bounds[place + m] = finite(error)));
        solved.push([...row, exactly(1)]);
      }
    }
  }
  return bounds;
}

/** Bounds of gdn-prefill-chunked's `out` and `state`, from the mixes before they were rounded to float32. */
export function chunkWalkBounds(
  shape: DeltaRuleShape,
  inputs: DeltaRuleInputs & { readonly mixes: Float32Array },
  { u, path }: Rounding,
): { out: Float64Array; state: Float64Array } {
  const { rows, kHeads, vHeads, dk, dv, vStride, vOffset } = shape;
  const values = Float64Array.from(inputs.state);
  const state = new Float64Array(values.length);
  const out = new Float64Array(rows * vHeads * dv);
  const dotGamma = gamma(path, u);
  for (let head = 0; head < vHeads; head++) {
    const kHead = Math.floor((head * kHeads) / vHeads);
    for (let start = 0; start < rows; start += CHUNK_ROWS) {
      const live = Math.min(CHUNK_ROWS, rows - start);
      const log = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, t) => inputs.g[(start + from + t) * vHeads + head]!);
      const carry = Array.from({ length: live }, (_, i) => decayOf(log(0, i + 1), u));
      const fade = Array.from({ length: live }, (_, i) => decayOf(log(i + 1, live), u));
      const mix = Array.from({ length: live }, (_, i) =>
        Array.from({ length: 2 * CHUNK_ROWS }, (__, m): Off => {
          const value = inputs.mixes[((start + i) * vHeads + head) * 2 * CHUNK_ROWS + m]!;
          return { value, error: U_NEAREST * Math.abs(value) + FLUSH };
        }),
      );
      for (let j = 0; j < dv; j++) {
        const base = (head * dv + j) * dk;
        const stateDot = (a: Float32Array, i: number): Off => {
          const at = ((start + i) * kHeads + kHead) * dk;
          let value = 0;
          let error = 0;
          for (let d = 0; d < dk; d++) {
            const x = a[at + d]!;
            const held = values[base + d]!;
            const size = Math.abs(held) + state[base + d]!;
            value += x * held;
            error += Math.abs(x) * (state[base + d]! + dotGamma * size) + FLUSH * (Math.abs(x) + size + 1);
          }
          return { value, error };
        };
        const residues: Off[] = [];
        const written: Off[] = [];
        for (let i = 0; i < live; i++) {
          const recall = product(carry[i]!, stateDot(inputs.k, i), u);
          const value = inputs.v[(start + i) * vStride + vOffset + head * dv + j]! - recall.value;
          const difference = { value, error: recall.error + u * (Math.abs(value) + recall.error) + FLUSH };
          residues.push(product({ value: inputs.beta[(start + i) * vHeads + head]!, error: 0 }, difference, u));
          written.push(
            sumOfProducts(
              residues.map((residue, m): [Off, Off] => [mix[i]![m]!, residue]),
              i + 2,
              u,
            ),
          );
          const answer = product(carry[i]!, stateDot(inputs.q, i), u);
          const within = sumOfProducts(
            written.map((delta, m): [Off, Off] => [mix[i]![CHUNK_ROWS + m]!, delta]),
            i + 3,
            u,
          );
          const size = Math.abs(answer.value) + answer.error;
          out[((start + i) * vHeads + head) * dv + j] = finite(answer.error + within.error + gamma(i + 2, u) * size);
        }
        const faded = written.map((delta, m) => product(fade[m]!, delta, u));
        for (let d = 0; d < dk; d++) {
          const kept = product(carry[live - 1]!, { value: values[base + d]!, error: state[base + d]! }, u);
          let value = kept.value;
          let error = kept.error;
          let size = Math.abs(kept.value) + kept.error;
          for (let m = 0; m < live; m++) {
            const delta = faded[m]!;
            const k = inputs.k[((start + m) * kHeads + kHead) * dk + d]!;
            const most = Math.abs(delta.value) + delta.error;
            value += delta.value * k;
            error += delta.error * Math.abs(k) + FLUSH * (most + Math.abs(k) + 1);
            size += most * Math.abs(k);
          }
          values[base + d] = value;
          state[base + d] = error + gamma(live + 1, u) * size;
        }
      }
    }
  }
  return { out, state: state.map(finite) };
}

/** Where a value is NaN or infinite its class is due, and no bound applies. */
function finite(bound: number): number {
  return Number.isFinite(bound) ? bound : 0;
}
