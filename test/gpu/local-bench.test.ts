/** `npm run bench` as people run it: one JSON object on stdout, whatever adapter opens. */
import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { z } from 'zod';

const report = z.object({
  model: z.literal('tiny'),
  hostMsPerToken: z.number().positive(),
  dispatchesPerToken: z.int().positive(),
  dispatches: z.record(z.string(), z.number()),
  submitsPerToken: z.literal(1),
  bytesReadPerToken: z.literal(4),
  adapter: z.string().min(1),
  evidence: z.enum(['gpu', 'software']),
  ratios: z.array(z.object({ name: z.string(), withoutMs: z.number().positive(), withMs: z.number().positive(), ratio: z.number().positive() })).length(3),
});

it('prints one JSON object with the counts of a token and three ratios', async () => {
  const root = new URL('../../', import.meta.url).pathname;
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile('npm', ['run', 'bench', '--', '--json', '--config', 'tiny'], { cwd: root, maxBuffer: 1 << 20 }, (error, text, stderr) =>
      error ? reject(new Error(stderr, { cause: error })) : resolve(text),
    );
  });
  const found = report.parse(JSON.parse(stdout));
  expect(found.dispatches).toHaveProperty('gdn-step');
  for (const { withoutMs, withMs, ratio } of found.ratios) expect(ratio).toBeCloseTo(withoutMs / withMs, 6);
});
