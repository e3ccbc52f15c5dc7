/**
 * The references are held by values worked by hand: each of these misreadings of the model, written into a copy of a
 * reference's text, disagrees with values that the shipped reference gives.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

type Reference = (shape: Readonly<Record<string, number>>, ...inputs: readonly unknown[]) => Readonly<Record<string, Float64Array>>;

interface Misreading {
  readonly name: string;
  readonly file: string;
  readonly exported: string;
  /** Each text occurs exactly once in the reference. */
  readonly edits: readonly (readonly [find: string, replace: string])[];
  readonly call: (reference: Reference) => readonly number[];
  /** Worked by hand. */
  readonly wanted: readonly number[];
}

// Position 0 turns nothing; position 1 turns the first pair by 90 degrees and the second by 180.
const TABLE = [1, 1, 0, 0, /**/ 0, -1, 1, 0];
const FUSED = { rows: 1, heads: 1, kvHeads: 1, headDim: 4, rotary: 4, context: 2, qStride: 8, kStride: 4, eps: 0 };
// Roots are 5 and 1 (mean squares 25 and 1); the gate is 11, 12, 13, 14.
const fused = (reference: Reference): Readonly<Record<string, Float64Array>> =>
  reference(FUSED, { qg: [5, 5, -5, 5, 11, 12, 13, 14], kProj: [1, -1, 1, 1], weight: [1, 2, 3, 4, 1, 2, 3, 4], table: TABLE, position: [1] });

const MISREADINGS: readonly Misreading[] = [
  {
    name: 'rope turns neighbours (2i, 2i + 1) instead of (i, i + rotary/2)',
    file: 'rope/rope.reference.ts',
    exported: 'ropeReference',
    edits: [
      ['const first = inputs.x[base + i]!', 'const first = inputs.x[base + 2 * i]!'],
      ['const second = inputs.x[base + half + i]!', 'const second = inputs.x[base + 2 * i + 1]!'],
      ['out[base + i] = first', 'out[base + 2 * i] = first'],
      ['out[base + half + i] =', 'out[base + 2 * i + 1] ='],
    ],
    call: (reference) => [...reference({ rows: 1, heads: 1, headDim: 5, rotary: 4, context: 2 }, { x: [1, 2, 3, 4, 5], table: TABLE, position: [1] })['out']!],
    wanted: [-3, -2, 1, -4, 5],
  },
  {
    name: 'rms-norm adds the 1 that checkpoint weights hold already',
    file: 'rms-norm/rms-norm.reference.ts',
    exported: 'rmsNormReference',
    edits: [['* weight[i]!', '* (1 + weight[i]!)']],
    call: (reference) => [...reference({ rows: 1, n: 2, eps: 0 }, Float32Array.of(5, -5), Float32Array.of(1, 2))['values']!],
    wanted: [1, -2],
  },
  {
    name: 'the fused launch adds the 1 to query and key weights again',
    file: 'qk-norm-rope-gate/qk-norm-rope-gate.reference.ts',
    exported: 'qkNormRopeGateReference',
    edits: [['* weight[weights + i]!', '* (1 + weight[weights + i]!)']],
    call: (reference) => [...fused(reference)['q']!],
    wanted: [3, -2, 1, -4],
  },
  {
    name: 'the fused launch turns neighbours',
    file: 'qk-norm-rope-gate/qk-norm-rope-gate.reference.ts',
    exported: 'qkNormRopeGateReference',
    edits: [
      ['out[destination + i] = normed(i) * cos - normed(i + half) * sin', 'out[destination + 2 * i] = normed(2 * i) * cos - normed(2 * i + 1) * sin'],
      [
        'out[destination + half + i] = normed(i + half) * cos + normed(i) * sin',
        'out[destination + 2 * i + 1] = normed(2 * i + 1) * cos + normed(2 * i) * sin',
      ],
    ],
    call: (reference) => [...fused(reference)['k']!],
    wanted: [-3, 2, 1, -4],
  },
  {
    name: 'the fused launch takes the gate from the first half of q_proj’s head and the query from the second',
    file: 'qk-norm-rope-gate/qk-norm-rope-gate.reference.ts',
    exported: 'qkNormRopeGateReference',
    edits: [
      ['normAndTurn(qg, source, 0', 'normAndTurn(qg, source + headDim, 0'],
      ['qg[source + headDim + i]!', 'qg[source + i]!'],
    ],
    call: (reference) => [...fused(reference)['gate']!],
    wanted: [11, 12, 13, 14],
  },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-references-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The reference as its file's text says, after edits. */
async function load({ file, exported }: Misreading, edits: Misreading['edits'], copy: string): Promise<Reference> {
  let text = readFileSync(new URL(file, import.meta.url), 'utf8');
  for (const [find, replace] of edits) {
    expect(text.split(find), `${find} occurs once in ${file}`).toHaveLength(2);
    text = text.replace(find, replace);
  }
  const path = join(folder, `${copy}.ts`);
  writeFileSync(path, text);
  const found = ((await import(/* @vite-ignore */ pathToFileURL(path).href)) as Record<string, Reference>)[exported];
  if (!found) throw new Error(`${file} exports no ${exported}`);
  return found;
}

const furthest = (found: readonly number[], wanted: readonly number[]): number => Math.max(...wanted.map((value, i) => Math.abs(value - found[i]!)));

it.each(MISREADINGS.map((misreading, index) => ({ name: misreading.name, misreading, index })))('is caught: $name', async ({ misreading, index }) => {
  const shipped = misreading.call(await load(misreading, [], `shipped-${index}`));
  const misread = misreading.call(await load(misreading, misreading.edits, `misread-${index}`));
  expect(shipped).toHaveLength(misreading.wanted.length);
  expect(furthest(shipped, misreading.wanted)).toBeLessThan(1e-12);
  expect(furthest(misread, misreading.wanted)).toBeGreaterThan(0.5);
});
