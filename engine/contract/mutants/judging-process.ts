/** The judging child process as the contract command sees it: asked one question at a time, ended when it hangs. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DeviceNeed } from '../../../kernels/contract.ts';
import { EngineBroken } from '../../errors.ts';
import { nodeArguments } from '../../node-process.ts';
import type { Evidence } from '../../protocol.ts';
import type { Judgement } from './judge.ts';
import type { Answer, Question } from './messages.ts';
import { workedMs } from './worked.ts';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

/** Opening a device takes seconds; a driver that needs longer than this will not open. */
const OPEN_MS = 120_000;

/** How often a silent process is looked at. */
const LOOK_MS = 250;

/** A judgement, or how the process failed to give one. The device is opened anew for the next question. */
export type Reply = Judgement | { readonly result: 'hung'; readonly detail: string } | { readonly result: 'broke'; readonly detail: string };

export interface Device {
  readonly adapter: string;
  readonly evidence: Evidence;
  readonly seed: number;
  readonly repeat: number;
  /** What the kernels need of the device; absent: nothing. */
  readonly needs?: readonly DeviceNeed[];
}

interface Opened {
  readonly child: ChildProcess;
  readonly inbox: Inbox;
  /** Milliseconds of the clock that tells slow from hung. */
  readonly now: () => number;
}

export class JudgingProcess {
  readonly #device: Device;
  #open: Opened | undefined;

  constructor(device: Device) {
    this.#device = device;
  }

  /**
   * Asks for one judgement.
   * @param stallMs the longest that one case may take.
   * @returns the reply, and the longest time in it between two signs of life.
   * @throws EngineBroken when the device does not open: no mutant has run then, so none is to blame.
   */
  async ask(question: Question, stallMs: number): Promise<{ reply: Reply; longestMs: number }> {
    const { child, inbox, now } = (this.#open ??= await this.#start());
    child.send(question);
    let longestMs = 0;
    for (;;) {
      const since = now();
      const answer = await inbox.next(stallMs, now);
      longestMs = Math.max(longestMs, now() - since);
      if (answer.kind === 'step') continue;
      if (answer.kind === 'judged') return { reply: answer.judgement, longestMs };
      await this.close();
      if (answer.kind === 'stalled') return { reply: { result: 'hung', detail: `no case ended within ${Math.round(stallMs)} ms` }, longestMs };
      return { reply: { result: 'broke', detail: answer.kind === 'broke' ? answer.reason : 'the process started over' }, longestMs };
    }
  }

  async #start(): Promise<Opened> {
    const { adapter, evidence, seed, repeat, needs = [] } = this.#device;
    const child = fork(CHILD, [adapter, String(seed), String(repeat), ...needs], { execArgv: nodeArguments(), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const inbox = new Inbox(child);
    const now = (): number => (evidence === 'software' ? workedMs(child.pid!) : undefined) ?? performance.now();
    const answer = await inbox.next(OPEN_MS, now);
    if (answer.kind === 'ready') return { child, inbox, now };
    child.kill('SIGKILL');
    throw new EngineBroken(`the device ${adapter} did not open for the mutants: ${answer.kind === 'broke' ? answer.reason : answer.kind}`);
  }

  /** Ends the process, whatever it is doing. */
  async close(): Promise<void> {
    const child = this.#open?.child;
    this.#open = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}

/** What a child process said, its end included, in order; nothing is lost between two looks. */
class Inbox {
  readonly #answers: Answer[] = [];
  #wake: (() => void) | undefined;

  constructor(child: ChildProcess) {
    child.on('message', (message) => this.#put(message as Answer));
    child.on('error', (error) => this.#put({ kind: 'broke', reason: error.message }));
    child.on('exit', (code, signal) => this.#put({ kind: 'broke', reason: `the process ended with ${signal ?? code}` }));
  }

  #put(answer: Answer): void {
    this.#answers.push(answer);
    this.#wake?.();
  }

  /** The next answer, or `stalled` after `ms` of silence by the clock `now`. */
  async next(ms: number, now: () => number): Promise<Answer | { readonly kind: 'stalled' }> {
    const since = now();
    while (this.#answers.length === 0 && now() - since < ms) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, LOOK_MS);
      });
      clearTimeout(timer);
    }
    return this.#answers.shift() ?? { kind: 'stalled' };
  }
}
