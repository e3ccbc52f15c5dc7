/** `npm run bench:gpu` as people run it, on a CPU driver: figures of every step that ran, also where another step failed. */
import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { z } from 'zod';

const positive = z.number().positive();
const report = z.object({
  model: z.literal('tiny'),
  adapter: z.string().min(1),
  driver: z.string().min(1),
  evidence: z.enum(['gpu', 'software']),
  readCeilingGbPerS: positive,
  tuned: z.array(z.object({ kernel: z.string(), shape: z.record(z.string(), z.number()), variant: z.string() })).nullable(),
  prompts: z.array(
    z.object({
      promptTokens: z.int(),
      decodeTokensPerS: positive,
      msPerToken: positive,
      p50Ms: positive,
      p90Ms: positive,
      prefillTokensPerS: positive,
      weightReadMs: positive,
      shareOfCeiling: positive,
      checksumsMatch: z.literal(true),
      ran: z.object({ subgroups: z.string(), token: z.array(z.object({ kernel: z.string(), variant: z.string(), shape: z.string() })) }),
      memory: z.object({ residentBytes: positive, weightBytes: positive, beforeLoadKiB: positive.nullable(), afterLoadKiB: positive.nullable() }),
    }),
  ),
  dispatchesPerToken: z.int().positive().nullable(),
  submitsPerToken: z.literal(1).nullable(),
  bytesReadPerToken: z.literal(4).nullable(),
  profiles: z.array(z.object({ promptTokens: z.int(), profile: z.object({ token: z.array(z.unknown()).min(1), prompt: z.array(z.unknown()).min(1) }) })),
  steps: z.array(z.object({ name: z.string(), command: z.string(), status: z.int(), failure: z.string().nullable() })),
});

function bench(...args: string[]): Promise<{ status: number; report: z.infer<typeof report> }> {
  const root = new URL('../../', import.meta.url).pathname;
  const all = ['run', '-s', 'bench:gpu', '--', '--json', '--config', 'tiny', '--allow-software', ...args];
  return new Promise((resolve, reject) => {
    execFile('npm', all, { cwd: root, maxBuffer: 16 << 20 }, (error, stdout, stderr) => {
      const status = typeof error?.code === 'number' ? error.code : 0;
      if (stdout === '') reject(new Error(stderr));
      else resolve({ status, report: report.parse(JSON.parse(stdout)) });
    });
  });
}

it('gives the figures of each prompt, the counts of a token and two profiles', async () => {
  const found = await bench('--prompts', '4,6', '--steps', '4', '--context', '16', '--rounds', '1');
  expect(found.report.steps.map(({ failure }) => failure)).toEqual(found.report.steps.map(() => null));
  expect(found.status).toBe(0);
  expect(found.report.prompts.map(({ promptTokens }) => promptTokens)).toEqual([4, 6]);
  for (const { msPerToken, decodeTokensPerS, weightReadMs, shareOfCeiling, memory } of found.report.prompts) {
    expect(decodeTokensPerS).toBeCloseTo(1000 / msPerToken, 6);
    expect(weightReadMs).toBeCloseTo(memory.weightBytes / found.report.readCeilingGbPerS / 1e6, 9);
    expect(shareOfCeiling).toBeCloseTo(weightReadMs / msPerToken, 9);
    expect(memory.residentBytes).toBeGreaterThan(memory.weightBytes);
  }
  expect(found.report.dispatchesPerToken).toBeGreaterThan(0);
  // What tune chose is what ran.
  for (const { kernel, variant, shape } of found.report.prompts[0]!.ran.token.filter(({ kernel: name }) => name.includes('q4-add'))) {
    const chosen = found.report.tuned!.find((choice) => choice.kernel === kernel && shape === `n=${choice.shape['n']},k=${choice.shape['k']}`);
    expect(chosen?.variant).toBe(variant);
  }
  expect(found.report.profiles.map(({ promptTokens }) => promptTokens)).toEqual([4, 6]);
});

it('keeps the figures of the steps that ran, says why another did not, and ends with its status', async () => {
  const found = await bench('--prompts', '4,40', '--steps', '3', '--context', '16', '--no-tune');
  expect(found.status).toBe(2);
  expect(found.report.prompts.map(({ promptTokens }) => promptTokens)).toEqual([4]);
  const failed = found.report.steps.filter(({ failure }) => failure !== null);
  expect(failed.map(({ name, status }) => [name, status])).toEqual([
    ['decode 40', 2],
    ['profile 40', 2],
  ]);
  expect(failed[0]!.failure).toContain('--context 16 is too small: 40 prompt ids and 3 steps need 43');
});
