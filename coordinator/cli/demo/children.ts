/** The processes that the demo starts, and their certain end: on success, failure, Ctrl-C and a crash of the demo itself. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FLEET_EXIT } from '../../protocol/errors.ts';
import { CliError } from '../cli-error.ts';
import { plain } from '../output.ts';
import { spawnRoom, type Room } from '../rooms.ts';

/** How long a process may take to end in order (an agent ends its leg, the coordinator its Redis) before it is killed. */
const GRACE_MS = 10_000;

interface Child {
  readonly name: string;
  readonly process: ChildProcess;
  readonly log: string;
}

export class Children {
  readonly #children: Child[] = [];
  readonly #logs: string;

  /** @param logs folder that takes one log file a process */
  constructor(logs: string) {
    this.#logs = logs;
    mkdirSync(logs, { recursive: true });
    process.once('exit', () => this.#signalAll('SIGKILL'));
  }

  /**
   * Starts a room in a process group of its own, so that Ctrl-C at the terminal reaches the demo alone and the end is orderly.
   * @returns its process id
   */
  start(name: string, room: Room, args: readonly string[]): number | undefined {
    const log = path.join(this.#logs, `${name}.log`);
    const descriptor = openSync(log, 'a');
    try {
      const child = spawnRoom(room, args, { stdio: ['ignore', descriptor, descriptor], detached: true });
      child.on('error', () => undefined); // `running` sees a process without an id as ended.
      this.#children.push({ name, process: child, log });
      return child.pid;
    } finally {
      closeSync(descriptor);
    }
  }

  /** @throws CliError (exit 5) with the last line of its log, when one of the processes has ended by itself. */
  assertRunning(): void {
    const ended = this.#children.find((child) => !running(child.process));
    if (!ended) return;
    const said = lastLine(ended.log);
    const [why = said, next] = said.replace(/^fleet(?: \w+)?: /, '').split(/\.? next: /);
    const status = ended.process.signalCode ?? `exit ${ended.process.exitCode}`;
    throw new CliError(`${ended.name} ended by itself (${status}): ${why || 'it said nothing'}`, next ?? `read ${ended.log}`, FLEET_EXIT.infrastructure);
  }

  /** Ends all in order: the agents, then the coordinator that they report to (it was started first). */
  async stop(): Promise<void> {
    const [first, ...later] = this.#children;
    for (const group of [later, first ? [first] : []]) {
      for (const child of group) child.process.kill('SIGTERM');
      const until = Date.now() + GRACE_MS;
      while (group.some((child) => running(child.process)) && Date.now() < until) await sleep(20);
      for (const child of group) signalGroup(child.process, 'SIGKILL');
    }
  }

  #signalAll(signal: NodeJS.Signals): void {
    for (const child of this.#children) if (running(child.process)) signalGroup(child.process, signal);
  }
}

function running(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Signals the process's whole group, whatever is left of it. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // ESRCH: nothing is left, which is what was wanted.
  }
}

/** The last line that a process wrote; a pino line gives its message. */
function lastLine(log: string): string {
  const line = readFileSync(log, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null && 'msg' in entry) return plain(String(entry.msg));
  } catch {
    // Not JSON: the line itself.
  }
  return plain(line);
}
