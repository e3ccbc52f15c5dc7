import { describe, expect, it } from 'vitest';
import { columnRanges, planSplits } from './split.ts';
import type { QuantisedSpec } from './tensors.ts';

const MIB = 2 ** 20;
const head: QuantisedSpec = { form: 'quantised', name: 'model.embed_tokens', n: 248320, k: 2048 };

describe('columnRanges', () => {
  it('leaves a matrix whole that fits', () => {
    expect(columnRanges(head, 248320 * 1024)).toEqual([{ start: 0, n: 248320 }]);
  });

  it('halves the 2B head under the least binding that WebGPU promises', () => {
    expect(columnRanges(head, 128 * MIB)).toEqual([
      { start: 0, n: 124160 },
      { start: 124160, n: 124160 },
    ]);
  });

  it.each([
    { n: 1003, k: 320, limit: 12_000 },
    { n: 2048, k: 256, limit: 8192 },
    { n: 65, k: 64, limit: 2048 },
  ])('covers $n columns of $k once, in parts of at most $limit bytes that start at whole offsets', ({ n, k, limit }) => {
    const ranges = columnRanges({ form: 'quantised', name: 'lm_head', n, k }, limit)!;
    expect(ranges.length).toBeGreaterThan(1);
    let at = 0;
    for (const range of ranges) {
      expect(range.start).toBe(at);
      expect(range.n).toBeGreaterThan(0);
      expect((range.start * 4) % 256).toBe(0);
      expect((range.n * k) / 2).toBeLessThanOrEqual(limit);
      at += range.n;
    }
    expect(at).toBe(n);
  });

  it('has no answer where 64 columns are too large', () => {
    expect(columnRanges(head, 64 * 1024 - 1)).toBeUndefined();
  });
});

describe('planSplits', () => {
  it('splits the table and the head, and refuses any other tensor over the limit by name', () => {
    expect(planSplits([head], 128 * MIB, 'B60').get('model.embed_tokens')).toHaveLength(2);
    const gate: QuantisedSpec = { form: 'quantised', name: 'model.layers.0.mlp.gate_proj', n: 6144, k: 2048 };
    expect(() => planSplits([gate], 6 * MIB - 1, 'B60')).toThrow(
      'tensor language_model.model.layers.0.mlp.gate_proj.weight has 6291456 bytes, and B60 binds at most 6291455',
    );
    expect(() => planSplits([{ form: 'vector', name: 'model.norm.weight', shape: [2048] }], 8191, 'B60')).toThrow(
      'tensor language_model.model.norm.weight has 8192 bytes, and B60 binds at most 8191',
    );
    expect(() => planSplits([head], 4096, 'B60')).toThrow('tensor language_model.model.embed_tokens.weight has 254279680 bytes, and B60 binds at most 4096');
  });
});
