/** Runs git on the bare repository with nothing inherited that could change what it does. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

export interface GitResult {
  readonly status: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** No system or user configuration, no prompts, no transports, no hooks, no replacement objects. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  HOME: '/nonexistent',
  LC_ALL: 'C',
};

/**
 * @param input what git reads on stdin: text, or a stream that is passed through; nothing when left out.
 * @param quarantine an object directory for new objects; the repository's own are read beside it.
 * @throws Error when git cannot be started, or when `input` throws (git is then ended, and that error is the one thrown).
 */
export async function git(repository: string, args: readonly string[], input?: string | AsyncIterable<Uint8Array>, quarantine?: string): Promise<GitResult> {
  const child = spawn('git', ['-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0', ...args], {
    cwd: repository,
    env: {
      ...ENVIRONMENT,
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      GIT_DIR: repository,
      ...(quarantine === undefined ? {} : { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository, 'objects') }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise<number>((resolve, reject) => {
    child.on('error', (cause) => reject(new Error(`git does not start: ${cause.message}`, { cause })));
    child.on('close', (code) => resolve(code ?? 128));
  });
  // git may exit before it has read all; its status says why, so a broken pipe is no news.
  child.stdin.on('error', () => {});
  const outputs = Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  try {
    if (typeof input === 'string') child.stdin.end(input);
    else if (input === undefined) child.stdin.end();
    else {
      for await (const chunk of input) {
        if (child.exitCode !== null || child.stdin.destroyed) break;
        if (!child.stdin.write(chunk)) await Promise.race([new Promise((resolve) => child.stdin.once('drain', resolve)), exited]);
      }
      child.stdin.end();
    }
  } catch (error) {
    child.kill('SIGKILL');
    await exited.catch(() => {});
    throw error;
  }
  const status = await exited;
  const [stdout, stderr] = await outputs;
  return { status, stdout, stderr: stderr.toString('utf8').trim() };
}
