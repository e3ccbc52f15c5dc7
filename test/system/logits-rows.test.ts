/**
 * `identity logits <= X` through the real path: two families of sums of the same head on SwiftShader, whose digests differ and whose logits
 * nearly agree. The agent compares the rows where they were written, and the verdict says that it rests on its word.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { runView, type RunView } from '../../coordinator/protocol/run.ts';
import { FleetHome, LinesRepository, ROOT } from './cli-support.ts';

const LONG_MS = 900_000;
let home: FleetHome;
beforeAll(async () => {
  home = new FleetHome();
  await home.up();
  await home.agent('soft');
}, LONG_MS);
afterAll(() => home.close());

const HEADS = 'HEAD[qmm=scalar],HEAD[qmm=split]';
async function submitted(rule: string, ...more: string[]): Promise<{ status: number | null; stdout: string; stderr: string; view: RunView }> {
  const args = [
    'submit',
    '--heads',
    HEADS,
    '--repo',
    ROOT,
    '--cases',
    'decode/story',
    '--suites',
    'decode',
    '--pairs',
    '1',
    '--allow-software',
    '--rule',
    rule,
  ];
  const done = await home.fleet([...args, '--wait', '--json', ...more]);
  const { run } = z.object({ run: z.string() }).parse(JSON.parse(done.stdout));
  return { ...done, view: runView.parse(JSON.parse((await home.fleet(['report', run, '--format', 'json'])).stdout)) };
}

it(
  'within the limit: the same output, attested by the agent, in verdict, report, page, terminal and receipt',
  async () => {
    const { status, view, stdout } = await submitted('identity logits <= 1e-3');
    const verdict = view.jobs[0]!.verdicts[0]!;
    expect(verdict.reason).toMatch(/agent-attested/);
    expect(status).toBe(0);
    const [identity] = verdict.identities;
    expect(identity!.baselineDigest).not.toBe(identity!.candidateDigest);
    expect(identity).toMatchObject({ status: 'same', pinnedIdsMatch: true, logits: { attested: 'agent', limit: 1e-3, idsEqual: true } });
    const { maxAbsDifference, firstDifferingStep, marginThere } = identity!.logits!;
    expect(maxAbsDifference).toBeGreaterThan(0);
    expect(maxAbsDifference).toBeLessThan(1e-3);
    expect(firstDifferingStep).toBe(identity!.firstDifferingStep);
    expect(marginThere).toBeGreaterThan(maxAbsDifference);
    const compared = view.jobs[0]!.legs.flatMap((leg) => leg.measure?.rows ?? []);
    expect(compared).toHaveLength(1);
    expect(compared[0]).toMatchObject({ baselineSha256: identity!.baselineDigest, candidateSha256: identity!.candidateDigest, note: '' });

    expect(JSON.parse(stdout)).toMatchObject({ verdicts: [{ digests: [{ equal: true, attestedDifference: maxAbsDifference }] }] });
    expect((await home.fleet(['watch', view.run])).stdout).toMatch(/within \S+ \(agent-attested\)/);
    expect((await home.fleet(['report', view.run])).stdout).toContain('same, **agent-attested**');
    expect(await (await fetch(view.url)).text()).toMatch(/same *<span class="aside"> agent-attested<\/span>/);
    const receipt = path.join(home.folder, 'run.tar');
    expect((await home.fleet(['receipt', view.run, '--out', receipt])).status).toBe(0);
    expect((await home.fleet(['verify', receipt])).stdout).toMatch(/^equal: /);
  },
  LONG_MS,
);

it(
  'beyond the limit: output-differs, by how much and where, and no gain',
  async () => {
    const { status, view } = await submitted('identity logits <= 1e-12', '--again');
    expect(status).toBe(1);
    expect(view.jobs[0]!.verdicts[0]).toMatchObject({ verdict: 'output-differs', effects: [], identities: [{ status: 'differs', logits: { limit: 1e-12 } }] });
  },
  LONG_MS,
);

it('a suite that is never told to write rows is refused before anything is queued', async () => {
  const repository = new LinesRepository(home.folder);
  const suites = { decode: { kind: 'decode', command: ['sh', 'run.sh'], cases: [{ name: 'told', args: ['{logits}'] }, { name: 'story' }], timed: true } };
  writeFileSync(path.join(repository.directory, 'fleet.json'), JSON.stringify({ schema: 1, suites }));
  repository.commit('one');
  repository.commit('two');
  const done = await home.fleet(['submit', '--heads', 'HEAD~1,HEAD', '--allow-software', '--rule', 'identity logits <= 1e-3'], { cwd: repository.directory });
  expect(done.status).toBe(2);
  expect(done.stderr).toMatch(
    /case story of suite decode of the baseline writes none: no argument of it holds \{logits\}\. next: add "--logits", "\{logits\}" to its command/,
  );
});
