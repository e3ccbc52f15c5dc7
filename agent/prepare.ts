/** Makes a head runnable, outside the lock: objects, worktree, dependencies, and the head's own prepare command. */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobSpec } from '../coordinator/protocol/agent.ts';
import { removeTree, type Dependencies } from './dependencies.ts';
import { headEnvironment, type AdapterDrivers } from './environment.ts';
import { AttemptFailure, AttemptStopped } from './failure.ts';
import { startCommand, untilEnd } from './group-process.ts';
import type { Heads } from './heads.ts';

export interface PrepareContext {
  heads: Heads;
  dependencies: Dependencies;
  scratchRoot: string;
  marker: string;
  drivers: AdapterDrivers;
  signal: AbortSignal;
}

type HeadRequest = JobSpec['heads'][number];

/**
 * Prepares one head. A head that stands prepared from an earlier job costs one `git diff`.
 * @returns path of its worktree.
 * @throws AttemptFailure with what the head has to change; AttemptStopped when the signal fires.
 */
export async function prepareHead({ head, prepare }: HeadRequest, context: PrepareContext): Promise<string> {
  const { heads, dependencies, marker, signal } = context;
  await heads.fetch(head, signal);
  stopIf(signal);
  // Node is part of it: what was built for one version may not load in another.
  const preparation = JSON.stringify([prepare, process.version, process.platform, process.arch]);
  const ready = await heads.isReady(head, preparation);
  const worktree = ready ? heads.path(head) : await heads.checkOut(head);
  if (prepare.npm !== undefined) {
    // Asked for each time: the store may have been cleared, and a head's process may have moved the link.
    await dependencies.link({ worktree, allowScripts: prepare.npm.allowScripts, marker: `${marker}/npm`, timeoutMs: prepare.timeoutS * 1000, signal });
  }
  if (ready) return worktree;
  if (prepare.command !== undefined) await runPrepareCommand(head, worktree, prepare.command, prepare.timeoutS, context);
  await heads.markReady(head, preparation);
  return worktree;
}

async function runPrepareCommand(head: string, worktree: string, command: readonly string[], timeoutS: number, context: PrepareContext): Promise<void> {
  await mkdir(context.scratchRoot, { recursive: true });
  const scratch = await mkdtemp(join(context.scratchRoot, 'prepare-'));
  try {
    const env = headEnvironment({ home: scratch, tmp: scratch }, context.drivers);
    const running = startCommand({ argv: command, cwd: worktree, env, timeoutMs: timeoutS * 1000, marker: `${context.marker}/prepare` });
    const ended = await untilEnd(running, context.signal);
    if (ended.exitCode === 0) return;
    const how = ended.spawnError ?? (ended.timedOut ? `no end within ${timeoutS} s` : `status ${ended.exitCode ?? ended.signal}`);
    const words = `${ended.stdout}\n${ended.stderr}`.trim().slice(-1500);
    throw new AttemptFailure(
      'permanent',
      `prepare of head ${head} failed (${how}): ${words}`,
      `in a clone: git checkout ${head.slice(0, 12)} && ${command.join(' ')}`,
    );
  } finally {
    await removeTree(scratch);
  }
}

function stopIf(signal: AbortSignal): void {
  if (signal.aborted) throw new AttemptStopped(String(signal.reason));
}
