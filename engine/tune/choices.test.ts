import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { rmsNorm } from '../../kernels/rms-norm/rms-norm.ts';
import type { Step } from '../decode/step.ts';
import type { TuneRecord } from '../protocol.ts';
import { Choices, fastest, tunedPath } from './choices.ts';

const scratch = mkdtempSync(join(tmpdir(), 'choices-'));
afterAll(() => rmSync(scratch, { recursive: true }));

type Choice = TuneRecord['choices'][number];
const measured = (variant: string, ms: number, sameInFamily = true): Choice['variants'][number] => ({
  variant,
  family: 'serial-k',
  ms,
  bestMs: ms,
  outputSha256: 'a'.repeat(64),
  sameInFamily,
});
const choice = (rows: number, variant: string): Choice => ({
  kernel: 'qmm-q4',
  shape: { rows, n: 128, k: 64 },
  present: 'scalar',
  variant,
  family: 'serial-k',
  variants: ['scalar', 'vec4', 'tile-rows', 'ncols', 'tile'].map((each, index) => measured(each, index + 1)),
  refused: [],
});
const record: TuneRecord = {
  schema: 1,
  kind: 'tune',
  adapter: 'A',
  driver: 'one 1.0',
  evidence: 'gpu',
  model: 'm',
  settings: {},
  families: 'within',
  rounds: 1,
  clock: 'wall',
  choices: [choice(1, 'ncols'), choice(24, 'vec4'), choice(1024, 'tile')],
};
const adapter = { name: 'A', driver: 'one 1.0' };

let made = 0;
function file(contents: unknown): string {
  const path = join(scratch, `${made++}.json`);
  writeFileSync(path, typeof contents === 'string' ? contents : JSON.stringify(contents));
  return path;
}

const step = (rows: number, variant: string, n = 128): Step => ({ kernel: qmmQ4, shape: { rows, n, k: 64 }, variant, buffers: {} });

describe('Choices', () => {
  const choices = Choices.read(file(record), adapter);

  it('gives a step the variant of its shape, or of the nearest number of rows', () => {
    const variants = [1, 24, 25, 100, 300, 1024].map((rows) => choices.step(step(rows, 'scalar')).variant);
    expect(variants).toEqual(['ncols', 'vec4', 'vec4', 'vec4', 'tile', 'tile']);
  });

  it('leaves another shape, another kernel and another family as they are', () => {
    for (const other of [step(1, 'scalar', 256), step(1, 'split-4'), { kernel: rmsNorm, shape: { rows: 1, n: 128, eps: 1 }, buffers: {} }])
      expect(choices.step(other)).toBe(other);
  });

  it('leaves a step whose chosen variant the kernel no longer has', () => {
    const gone = Choices.read(file({ ...record, choices: [choice(1, 'tile-9')] }), adapter);
    expect(gone.step(step(1, 'scalar')).variant).toBe('scalar');
  });

  it('refuses a file of another adapter or driver, one that is none, and one that is not there', () => {
    expect(() => Choices.read(file({ ...record, adapter: 'B' }), adapter)).toThrow('was tuned on B, and this is A');
    expect(() => Choices.read(file({ ...record, driver: 'two' }), adapter)).toThrow('was tuned on the driver "two", and this one is "one 1.0"');
    expect(() => Choices.read(file('{'), adapter)).toThrow('is no file of choices that this engine reads');
    expect(() => Choices.read(join(scratch, 'none.json'), adapter)).toThrow('nothing was tuned for A: there is no file');
  });

  it('lies in the cache folder under adapter and driver', () => {
    expect(tunedPath(adapter, { XDG_CACHE_HOME: '/c' })).toBe('/c/fleet/tuned/a-one-1-0.json');
  });
});

describe('fastest', () => {
  it('goes by the best round, not by the median', () => {
    const disturbed = { ...measured('vec4', 1), ms: 4 };
    expect(fastest('scalar', [measured('scalar', 2), disturbed], 0.02)).toBe('vec4');
  });

  it('keeps what is used unless another is faster by the margin', () => {
    expect(fastest('scalar', [measured('scalar', 1.01), measured('vec4', 1)], 0.02)).toBe('scalar');
    expect(fastest('scalar', [measured('scalar', 1.03), measured('vec4', 1)], 0.02)).toBe('vec4');
  });

  it('never takes a variant whose outputs differ, however fast', () => {
    expect(fastest('scalar', [measured('scalar', 9), measured('vec4', 1, false), measured('ncols', 2)], 0.02)).toBe('ncols');
    expect(fastest('scalar', [measured('vec4', 1, false)], 0.02)).toBe('scalar');
  });
});
