import { describe, expect, it } from 'vitest';
import { chunksOf } from './decoder.ts';
import { ropeTable } from './memory.ts';
import { parseSettings, SETTINGS } from './settings.ts';

describe('chunksOf', () => {
  it('covers every id once, whole chunks first and no dead row', () => {
    expect(chunksOf(130, 64)).toEqual([
      { start: 0, rows: 64 },
      { start: 64, rows: 64 },
      { start: 128, rows: 2 },
    ]);
    expect(chunksOf(64, 64)).toEqual([{ start: 0, rows: 64 }]);
    expect(chunksOf(1, 64)).toEqual([{ start: 0, rows: 1 }]);
  });
});

describe('ropeTable', () => {
  it('holds cos, then sin, of position · theta^(−i/half)', () => {
    const table = ropeTable(3, 4, 100);
    expect([...table.subarray(0, 4)]).toEqual([1, 1, 0, 0]);
    // position 2: angles 2 and 2 / 100^(1/2) = 0.2
    expect([...table.subarray(8)]).toEqual([Math.cos(2), Math.cos(0.2), Math.sin(2), Math.sin(0.2)].map(Math.fround));
  });
});

describe('parseSettings', () => {
  it('fills in the defaults', () => {
    const defaults = { qmm: 'scalar', 'qmm-prompt': 'auto', 'gdn-prompt': 'token-loop', sdpa: 'whole', fusion: 'off', chunk: '64' };
    expect(parseSettings([])).toEqual(defaults);
    expect(parseSettings(['qmm=vec4', 'chunk=8', 'chunk=16'])).toEqual({ ...defaults, qmm: 'vec4', chunk: '16' });
  });

  it('refuses unknown keys and values', () => {
    for (const word of ['gmm=vec4', 'qmm', 'qmm=', 'qmm=tile9', 'chunk=0', 'chunk=1e3', 'chunk=2000', '=x'])
      expect(() => parseSettings([word])).toThrow(`--set ${word}`);
  });

  it('accepts its own defaults', () => {
    for (const setting of SETTINGS) expect(setting.valid(setting.fallback)).toBe(true);
  });
});
