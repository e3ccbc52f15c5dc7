/** Heads of a real repository, fetched as bundles from a real coordinator, checked out and prepared. */
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../agent/api-client.ts';
import { Dependencies } from '../../agent/dependencies.ts';
import { openLog } from '../../agent/events.ts';
import { Heads } from '../../agent/heads.ts';
import { prepareHead, type PrepareContext } from '../../agent/prepare.ts';
import { CHECKOUT, Cleanup } from './agent-support.ts';
import { Repository, sendTwoHeads, startCoordinator, type Running } from './coordinator-support.ts';

const cleanup = new Cleanup();
const repository = new Repository();
const log = openLog('silent', 'b60');
let coordinator: Running;
let base: string;
let candidate: string;
let state: string;
let heads: Heads;
let downloads: number;

beforeAll(async () => {
  coordinator = await startCoordinator(cleanup.folder());
  [base, candidate] = await sendTwoHeads(coordinator.url, repository);
});
afterAll(async () => {
  await coordinator?.end('SIGTERM');
  repository.remove();
  await cleanup.run();
});

function openHeads(): Heads {
  const api = new ApiClient(coordinator.url);
  const counting = {
    downloadBundle: async (head: string, have: readonly string[], file: string): Promise<void> => {
      downloads++;
      await api.downloadBundle(head, have, file);
    },
  };
  return new Heads(state, counting, log);
}

beforeEach(() => {
  state = cleanup.folder();
  downloads = 0;
  heads = openHeads();
});

const prepare = (change: Partial<Parameters<typeof prepareHead>[0]['prepare']> = {}, signal = new AbortController().signal): Promise<string> => {
  const context: PrepareContext = {
    heads,
    dependencies: new Dependencies(join(state, 'deps'), CHECKOUT, log),
    scratchRoot: join(state, 'scratch'),
    marker: 'test-heads/1',
    drivers: { driverFiles: null },
    signal,
  };
  return prepareHead({ head: candidate, prepare: { timeoutS: 60, ...change } }, context);
};

describe('heads', () => {
  it('arrive as bundles, the second one cut at the first, and are checked out side by side', async () => {
    await heads.fetch(base);
    await heads.fetch(candidate);
    const [first, second] = [await heads.checkOut(base), await heads.checkOut(candidate)];
    expect(readFileSync(join(first, 'run.sh'), 'utf8')).toBe('echo one\n');
    expect(readFileSync(join(second, 'run.sh'), 'utf8')).toBe('echo two\n');
  });

  it('are fetched once, by whichever process of this agent', async () => {
    await heads.fetch(candidate);
    await openHeads().fetch(candidate);
    await heads.fetch(base); // an ancestor of what is there
    expect(downloads).toBe(1);
  });

  it('that the coordinator does not have fail for good, with what to do', async () => {
    await expect(heads.fetch('f'.repeat(40))).rejects.toMatchObject({ class: 'permanent', message: expect.stringContaining('f'.repeat(40)) });
  });

  it('whose bundle is broken are refused, and nothing of them is kept', async () => {
    const broken = new Heads(
      state,
      {
        downloadBundle: (_head, _have, file) => {
          writeFileSync(file, `# v2 git bundle\n${base} refs/fleet/${base}\n\nPACK no pack`);
          return Promise.resolve();
        },
      },
      log,
    );
    await expect(broken.fetch(base)).rejects.toMatchObject({ class: 'permanent', message: expect.stringContaining('git refuses') });
    await heads.fetch(base);
    expect(downloads).toBe(1);
  });

  it('are removed two weeks after their last use, unless a job needs them', async () => {
    await heads.fetch(base);
    for (const head of [base, candidate]) {
      await heads.fetch(head);
      await heads.checkOut(head);
      await heads.markReady(head, 'p');
      utimesSync(`${heads.path(head)}.ready`, 0, 0);
    }
    await heads.removeOld([candidate]);
    expect(existsSync(heads.path(base))).toBe(false);
    expect(existsSync(heads.path(candidate))).toBe(true);
    await heads.checkOut(base);
  });
});

describe('preparation', () => {
  const counting = ['sh', '-c', 'echo x >>runs.log'];

  it('runs once per head, and again when the command changed, the worktree was tampered with, or it broke off', async () => {
    const runs = (): number => readFileSync(join(heads.path(candidate), 'runs.log'), 'utf8').length / 2;
    await prepare({ command: counting });
    await prepare({ command: counting });
    expect(runs()).toBe(1);

    writeFileSync(join(heads.path(candidate), 'run.sh'), 'echo tampered\n');
    const worktree = await prepare({ command: counting });
    expect(readFileSync(join(worktree, 'run.sh'), 'utf8')).toBe('echo two\n');
    expect(runs()).toBe(1);

    rmSync(`${heads.path(candidate)}.ready`);
    writeFileSync(join(heads.path(candidate), 'half-built'), '');
    await prepare({ command: counting });
    expect(existsSync(join(heads.path(candidate), 'half-built'))).toBe(false);

    await prepare({ command: [...counting, 'other'] });
    expect(runs()).toBe(1);
  });

  it('may itself change tracked files', async () => {
    const command = ['sh', '-c', 'echo built >>run.sh'];
    await prepare({ command });
    const worktree = await prepare({ command });
    expect(readFileSync(join(worktree, 'run.sh'), 'utf8')).toBe('echo two\nbuilt\n');
  });

  it('that fails is permanent and shows the command’s words', async () => {
    const failing = prepare({ command: ['sh', '-c', 'echo cannot find the compiler >&2; exit 7'] });
    await expect(failing).rejects.toMatchObject({
      class: 'permanent',
      message: expect.stringMatching(/status 7.*cannot find the compiler/s),
      next: expect.stringContaining('git checkout'),
    });
  });

  it('is killed when the attempt is stopped', async () => {
    const stop = new AbortController();
    const preparing = prepare({ command: ['sh', '-c', 'exec sleep 69'] }, stop.signal);
    setTimeout(() => stop.abort('enough'), 500);
    await expect(preparing).rejects.toThrow('enough');
  });

  it('has neither the agent’s home nor its environment', async () => {
    process.env['FLEET_TEST_SECRET'] = 'secret';
    const worktree = await prepare({ command: ['sh', '-c', 'env >env.txt'] });
    delete process.env['FLEET_TEST_SECRET'];
    const seen = readFileSync(join(worktree, 'env.txt'), 'utf8');
    expect(seen).not.toContain('secret');
    expect(seen).not.toContain(`HOME=${process.env['HOME']}\n`);
  });

  it('refuses a head that carries its own node_modules', async () => {
    await heads.fetch(candidate);
    const worktree = await heads.checkOut(candidate);
    mkdirSync(join(worktree, 'node_modules'));
    const lock = { name: 'x', lockfileVersion: 3, requires: true, packages: { '': { name: 'x' } } };
    writeFileSync(join(worktree, 'package.json'), '{"name":"x"}');
    writeFileSync(join(worktree, 'package-lock.json'), JSON.stringify(lock));
    const dependencies = new Dependencies(join(state, 'deps'), CHECKOUT, log);
    await expect(dependencies.link({ worktree, allowScripts: [], marker: 'test-heads/2', timeoutMs: 60_000 })).rejects.toThrow('a node_modules of its own');
  });
});
