/** Runs git with nothing inherited that could change what it does: no user or system configuration, hooks, prompts or transports. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

const ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LFS_SKIP_SMUDGE: '1',
  HOME: '/nonexistent',
  LC_ALL: 'C',
};

export class GitError extends Error {
  readonly status: number;

  constructor(args: readonly string[], status: number, stderr: string) {
    super(`git ${args[0]} ended with status ${status}: ${stderr.trim().slice(0, 500)}`);
    this.name = 'GitError';
    this.status = status;
  }
}

/**
 * @param folder repository or worktree to run in.
 * @param input bytes for git's stdin.
 * @returns stdout.
 * @throws GitError with git's own words when it ends with another status than 0.
 */
export async function git(folder: string, args: readonly string[], input?: Readable): Promise<string> {
  const child = spawn('git', ['-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0', '-c', `safe.directory=${folder}`, ...args], {
    cwd: folder,
    env: { ...ENVIRONMENT, PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise<number>((settle, reject) => {
    child.once('error', (cause) => reject(new Error(`git does not start (${cause.message}); install it: apt-get install git`, { cause })));
    child.once('close', (code) => settle(code ?? 128));
  });
  // git may exit before it has read all; its status says why, so a broken pipe is no news.
  const fed = input === undefined ? child.stdin.end() : pipeline(input, child.stdin).catch(() => {});
  const [status, stdout, stderr] = await Promise.all([exited, text(child.stdout), text(child.stderr), fed]);
  if (status !== 0) throw new GitError(args, status, stderr);
  return stdout;
}
