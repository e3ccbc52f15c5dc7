import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { kernelNames } from '../../../kernels/registry.ts';
import { chosenOrder } from './choose.ts';
import { editsOf } from './edits.ts';

const SHADER = `// a + b in a comment stays
struct Params { n: u32 }
@group(0) @binding(1) var<storage, read> x: array<f32>;
const LANES = 4u;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lane: u32) {
  if (lane >= params.n) {
    return;
  }
  workgroupBarrier();
  out[lane] += max(x[lane] - y[lane] * 2.0, z);
}
`;

const edits = editsOf(SHADER);
const made = (rule: string): string[] => edits.filter((edit) => edit.rule === rule).map(({ line, after }) => `${line} ${after}`);

describe('editsOf', () => {
  it('swaps operators and bounds', () => {
    expect(made('comparison')).toEqual(['7 if (lane > params.n) {', '7 if (lane < params.n) {']);
    expect(made('arithmetic')).toContain('11 out[lane] += max(x[lane] + y[lane] * 2.0, z);');
    expect(made('function')).toEqual(['11 out[lane] += min(x[lane] - y[lane] * 2.0, z);']);
  });

  it('moves constants and indices by one', () => {
    expect(made('constant')).toEqual(
      expect.arrayContaining(['4 const LANES = 5u;', '4 const LANES = 3u;', '11 out[lane] += max(x[lane] - y[lane] * 3.0, z);']),
    );
    expect(made('index')).toContain('11 out[lane] += max(x[lane + 1u] - y[lane] * 2.0, z);');
  });

  it('drops terms, factors, barriers and statements whole', () => {
    expect(made('dropped term')).toEqual(['11 out[lane] += max(x[lane], z);']);
    expect(made('dropped factor')).toEqual(['11 out[lane] += max(x[lane] - y[lane], z);']);
    expect(made('barrier')).toEqual(['10 ']);
    expect(made('dropped statement')).toEqual(['8 ', '11 ']);
    expect(made('sum not kept')).toEqual(['11 out[lane] = max(x[lane] - y[lane] * 2.0, z);']);
  });

  it('swaps the operands of a difference, each with what binds tighter', () => {
    expect(made('operands')).toEqual(['11 out[lane] += max(y[lane] * 2.0 - x[lane], z);']);
  });

  it('leaves comments, attributes, types and declarations alone, and makes each text once', () => {
    expect(edits.filter(({ line }) => [1, 2, 3, 5, 6].includes(line))).toEqual([]);
    expect(new Set(edits.map(({ source }) => source)).size).toBe(edits.length);
    expect(edits.some(({ source }) => source === SHADER)).toBe(false);
  });
});

describe('chosenOrder', () => {
  it('is the same for one seed, another for another, and loses no edit', () => {
    expect(chosenOrder(edits, 'k', 1)).toEqual(chosenOrder(edits, 'k', 1));
    expect(chosenOrder(edits, 'k', 2)).not.toEqual(chosenOrder(edits, 'k', 1));
    expect(new Set(chosenOrder(edits, 'k', 1))).toEqual(new Set(edits));
  });

  it('begins with one edit of each rule', () => {
    const rules = new Set(edits.map(({ rule }) => rule));
    expect(
      new Set(
        chosenOrder(edits, 'k', 1)
          .slice(0, rules.size)
          .map(({ rule }) => rule),
      ),
    ).toEqual(rules);
  });
});

it.each(kernelNames())('%s has enough edits to choose ten that compile', (kernel) => {
  expect(editsOf(readFileSync(new URL(`../../../kernels/${kernel}/${kernel}.wgsl`, import.meta.url), 'utf8')).length).toBeGreaterThan(20);
});
