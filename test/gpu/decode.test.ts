/**
 * The engine, as its command line runs it, against the golden values of transformers in float32: on every adapter that
 * opens on this host, software ones included. The smallest top-1 margin of the golden steps is 0.0019, so logits within
 * 2e-4 must give the same ids.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { nodeArguments } from '../../engine/node-process.ts';
import { contract as qmmContract } from '../../kernels/qmm-q4/qmm-q4.contract.ts';
import { parseRecords, type AdapterRecord, type DecodeRecord } from '../../engine/protocol.ts';

const TOLERANCE = 2e-4;
const VOCAB = 2048;
const root = new URL('../../', import.meta.url);
const model = new URL('engine/models/qwen3.5-tiny-books', root).pathname;
const scratch = mkdtempSync(join(tmpdir(), 'decode-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const golden = z.object({
  prompt_ids: z.array(z.int()),
  ids: z.array(z.int()),
  text: z.string(),
  top8_ids: z.array(z.array(z.int())),
  top8_logits: z.array(z.array(z.number())),
});

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function engine(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const main = new URL('engine/main.ts', root).pathname;
  return new Promise((resolve) => {
    execFile(process.execPath, [...nodeArguments(), main, ...args], { env: { ...process.env, ...env }, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
  });
}

async function adapters(): Promise<AdapterRecord[]> {
  const { stdout, stderr, status } = await engine(['devices', '--allow-software', '--json']);
  expect({ status, stderr }).toMatchObject({ status: 0 });
  return parseRecords(stdout).records.filter((record) => record.kind === 'adapter');
}

async function decode(adapter: AdapterRecord, args: readonly string[]): Promise<DecodeRecord> {
  const env: Record<string, string> = adapter.driverFiles === null ? {} : { VK_DRIVER_FILES: adapter.driverFiles };
  const ran = await engine(['decode', '--model', model, '--adapter', adapter.name, '--allow-software', '--json', ...args], env);
  expect({ status: ran.status, stderr: ran.stderr }).toMatchObject({ status: 0 });
  const { records, whole } = parseRecords(ran.stdout);
  expect(whole).toBe(true);
  expect(records.map(({ kind }) => kind)).toEqual(['engine', 'adapter', 'decode', 'end']);
  return records.find((record) => record.kind === 'decode')!;
}

function goldenOf(name: string): z.infer<typeof golden> {
  return golden.parse(JSON.parse(readFileSync(new URL(`test/golden/${name}.json`, root), 'utf8')));
}

// At least one driver must open: `devices` exits 1 otherwise, and this file fails.
const found = await adapters();

describe.each(found.map((adapter) => [adapter.name, adapter] as const))('%s', (_, adapter) => {
  // Long prompts take few steps here: prefill is what they add, and a CPU driver is slow.
  it.each([
    ['story', 64, 'scalar', 'token-loop'],
    ['unicode', 64, 'vec4', 'token-loop'],
    ['document-256', 8, 'vec4', 'token-loop'],
    ['document-256', 64, 'vec4', 'chunked'],
    ['document-1024', 2, 'vec4', 'token-loop'],
  ] as const)(
    'decodes %s for %i steps to the golden ids with qmm=%s and gdn-prompt=%s',
    async (name, steps, qmm, gdnPrompt) => {
      const expected = goldenOf(name);
      const logits = join(scratch, `${name}.f32`);
      const pinned = join(scratch, `${name}.ids.json`);
      writeFileSync(pinned, JSON.stringify(expected.ids));
      const settings = ['--set', `qmm=${qmm}`, '--set', `gdn-prompt=${gdnPrompt}`];
      const record = await decode(adapter, ['--prompt', name, '--steps', String(steps), ...settings, '--logits', logits, '--pinned-ids', pinned]);
      expect(record.ids).toEqual(expected.ids.slice(0, steps));
      expect(expected.text.startsWith(record.text)).toBe(true);
      expect(record).toMatchObject({
        pinnedIdsMatch: true,
        checksumsMatch: true,
        steps,
        settings: { qmm, 'gdn-prompt': gdnPrompt, chunk: '64' },
        adapter: adapter.name,
      });
      expect(record.prompt.tokens).toBe(expected.prompt_ids.length);

      const bytes = readFileSync(logits);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(record.digest);
      expect(bytes.length).toBe(steps * VOCAB * 4);
      const row = (step: number): Buffer => bytes.subarray(step * VOCAB * 4, (step + 1) * VOCAB * 4);
      expect(record.stepDigests).toEqual(record.ids.map((__, step) => createHash('sha256').update(row(step)).digest('hex')));
      let worst = 0;
      for (let step = 0; step < steps; step++) {
        for (const [rank, id] of expected.top8_ids[step]!.entries())
          worst = Math.max(worst, Math.abs(row(step).readFloatLE(id * 4) - expected.top8_logits[step]![rank]!));
      }
      if (name !== 'document-1024') {
        const rows = readFileSync(new URL(`test/golden/${name}.logits.f32`, root));
        for (let at = 0; at < bytes.length; at += 4) worst = Math.max(worst, Math.abs(bytes.readFloatLE(at) - rows.readFloatLE(at)));
      }
      expect(worst).toBeLessThan(TOLERANCE);

      const { submits, bytesReadBack } = record.counters;
      const chunks = Math.ceil(record.prompt.tokens / 64);
      // Each chunk's first dispatches go ahead of the others.
      expect(submits).toEqual({ prompt: chunks, ...(chunks > 1 && { upload: chunks - 1 }), token: steps });
      expect(bytesReadBack).toBe(4 * steps);
    },
    900_000,
  );

  it('gives one digest for every variant of family serial-k, every chunk size, and with rows read back inside the timed pass', async () => {
    const short = ['--prompt', 'unicode', '--steps', '3'];
    const scalar = await decode(adapter, [...short, '--set', 'qmm=scalar', '--set', 'qmm-prompt=scalar']);
    for (const qmm of qmmContract.families['serial-k']!.filter((variant) => variant !== 'scalar' && variant !== 'vec4')) {
      const record = await decode(adapter, [...short, '--set', `qmm=${qmm}`, '--set', `qmm-prompt=${qmm}`]);
      expect([qmm, record.settings['qmm'], record.digest, record.checksumsMatch]).toEqual([qmm, qmm, scalar.digest, true]);
    }
    const vec4 = await decode(adapter, [...short, '--set', 'qmm=vec4', '--timed-readback']);
    const chunked = await decode(adapter, [...short, '--set', 'chunk=16', '--context', '100']);
    expect(vec4.digest).toBe(scalar.digest);
    expect(chunked.stepDigests).toEqual(scalar.stepDigests);
    expect(vec4.timing.logitsReadBack).toBe(true);
    expect(vec4.counters.bytesReadBack).toBe(3 * (VOCAB * 4 + 4));
    expect(chunked.counters.submits).toEqual({ prompt: 3, upload: 2, token: 3 });
  }, 600_000);

  it.each([
    ['split-k', 'on'],
    ['fixed', 'fixed'],
  ] as const)(
    'gives one digest for every variant of family %s, and for a token in its fused kernels',
    async (family, fusion) => {
      const short = ['--prompt', 'unicode', '--steps', '3'];
      const settings = qmmContract.families[family]!.map((qmm) => ['--set', `qmm=${qmm}`, '--set', 'sdpa=split']);
      const digests: string[] = [];
      for (const given of [...settings, ['--set', `fusion=${fusion}`]]) {
        const record = await decode(adapter, [...short, ...given]);
        expect([given, record.checksumsMatch, record.ids.slice(0, 3)]).toEqual([given, true, goldenOf('unicode').ids.slice(0, 3)]);
        digests.push(record.digest);
      }
      expect(new Set(digests).size).toBe(1);
    },
    600_000,
  );
});

describe('refusals', () => {
  it.each(found.filter(({ evidence }) => evidence === 'software'))(
    'refuses the CPU driver $name without leave, with one line, a record and status 1',
    async (software) => {
      const records = join(scratch, 'refused.jsonl');
      const env: Record<string, string> = software.driverFiles === null ? {} : { VK_DRIVER_FILES: software.driverFiles };
      const ran = await engine(['decode', '--model', model, '--prompt', 'story', '--adapter', software.name, '--records', records], env);
      expect(ran.status).toBe(1);
      expect(ran.stderr).toContain('is a CPU driver, which is not GPU evidence. next: add --allow-software');
      expect(parseRecords(readFileSync(records, 'utf8')).records.map(({ kind }) => kind)).toEqual(['engine', 'refused']);
    },
    240_000,
  );

  it('refuses a broken checkpoint before it opens a device', async () => {
    const broken = join(scratch, 'broken');
    mkdirSync(broken);
    for (const file of ['config.json', 'tokenizer.json', 'tokenizer_config.json']) copyFileSync(join(model, file), join(broken, file));
    writeFileSync(join(broken, 'model.safetensors'), readFileSync(join(model, 'model.safetensors')).subarray(0, -4));
    const ran = await engine(['decode', '--model', broken, '--text', 'a', '--json'], { VK_DRIVER_FILES: '/nonexistent', FLEET_DRIVERS: '/nonexistent' });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toMatch(
      /^engine decode: the checkpoint file .*model\.safetensors is broken: it is truncated: tensor .*\. next: copy or download it again/,
    );
    expect(ran.stdout.trim().split('\n')).toHaveLength(2);
  }, 240_000);

  it('exits 2 on an unknown setting and 1 on a prompt that is not there', async () => {
    expect((await engine(['decode', '--model', model, '--prompt', 'story', '--set', 'gmm=vec4'])).status).toBe(2);
    const ran = await engine(['decode', '--model', model, '--prompt', 'stroy']);
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain('it has document-1024, document-256, story, unicode');
  }, 240_000);
});
