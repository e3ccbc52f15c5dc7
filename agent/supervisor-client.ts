/** The agent's end of the supervisor: starts it, asks for the lock and for legs, and knows when it has died. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { AttemptFailure } from './failure.ts';
import { sweepMarked } from './marker-sweep.ts';
import { supervisorReport, type LegCommand, type LegReport, type SupervisorCommand, type SupervisorReport } from './supervisor-protocol.ts';

const END_MS = 15_000;

export interface SupervisorOptions {
  /** Root of the running checkout. */
  checkout: string;
  job: string;
  /** Marker of the attempt, swept if the supervisor dies on its own. */
  marker: string;
  onStarted?: (leg: number, pid: number | null) => void;
}

/** One supervisor process, for one attempt. */
export class Supervisor {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly marker: string;
  private readonly exited: Promise<void>;
  private deliver: ((report: SupervisorReport) => void) | null = null;
  private fail: ((error: Error) => void) | null = null;
  private death: Error | null = null;
  private complaint = '';

  private constructor(options: SupervisorOptions) {
    this.marker = options.marker;
    this.child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), `${options.checkout}/agent/supervisor.ts`, options.job], {
      cwd: options.checkout,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A session of its own: Ctrl-C at a terminal must reach the agent alone, which then closes in order.
      detached: true,
    });
    this.child.stdin.on('error', () => {}); // its exit is what counts
    this.child.stderr.on('data', (chunk: Buffer) => (this.complaint = (this.complaint + chunk.toString('utf8')).slice(-2000)));
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = supervisorReport.parse(JSON.parse(line));
      if (message.kind === 'started') options.onStarted?.(message.index, message.pid);
      else if (message.kind === 'fault')
        this.die(new AttemptFailure('transient', `the supervisor gave up: ${message.message}`, 'fix what it names on that host'));
      else this.deliver?.(message);
    });
    this.exited = new Promise((done) => {
      this.child.once('error', (error) => {
        this.die(new AttemptFailure('transient', `the supervisor does not start: ${error.message}`, 'see the agent’s log on that host'));
        done();
      });
      this.child.once('exit', (code, signal) => {
        // Its death released the lock. What pdeathsig did not reach must not go on using the device.
        sweepMarked((value) => value === this.marker);
        const how = signal === null ? `status ${code}` : signal;
        this.die(new AttemptFailure('transient', `the supervisor ended (${how}) ${this.complaint.trim()}`.trim(), 'nothing; the job is run again'));
        done();
      });
    });
  }

  /** Starts the process; it holds nothing yet. */
  static start(options: SupervisorOptions): Supervisor {
    return new Supervisor(options);
  }

  /**
   * Waits, for as long as it takes, until the supervisor holds the lock.
   * @param onWaiting called at the first failed try, and again when the holder changes.
   */
  async lock(path: string, onWaiting: (holder: string | null) => void): Promise<void> {
    await this.ask({ kind: 'lock', path }, (report) => {
      if (report.kind === 'waiting') onWaiting(report.holder);
      return report.kind === 'locked' ? report : null;
    });
  }

  /** Runs one leg to its end. */
  async runLeg(leg: Omit<LegCommand, 'kind'>): Promise<LegReport> {
    return await this.ask({ kind: 'leg', ...leg }, (report) => (report.kind === 'leg' ? report : null));
  }

  /** Ends whatever runs, gives the lock back, and returns once the process is gone. Safe to call twice. */
  async close(): Promise<void> {
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), END_MS);
    await this.exited;
    clearTimeout(timer);
  }

  /** The process, for tests that kill it. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  private die(error: Error): void {
    this.death ??= error;
    this.fail?.(this.death);
  }

  private async ask<T>(command: SupervisorCommand, accept: (report: SupervisorReport) => T | null): Promise<T> {
    if (this.death !== null) throw this.death;
    try {
      return await new Promise<T>((settle, reject) => {
        this.fail = reject;
        this.deliver = (report) => {
          const answer = accept(report);
          if (answer !== null) settle(answer);
        };
        this.child.stdin.write(`${JSON.stringify(command)}\n`);
      });
    } finally {
      this.deliver = null;
      this.fail = null;
    }
  }
}
