/** One command of the engine as a process of its own: what breaks it leaves the others' figures. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '../node-process.ts';
import { EXIT, parseRecords, type EngineRecord } from '../protocol.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

/** What a command said and wrote. */
export interface StepResult {
  readonly name: string;
  /** The command as it can be run again. */
  readonly command: string;
  readonly seconds: number;
  readonly status: number;
  /** Why it has no figures: its own words, and the next command; null when it executed and its records are whole. */
  readonly failure: string | null;
  readonly records: readonly EngineRecord[];
}

/**
 * Runs `engine ARGS… --json`.
 * @param limitMs after this the process is ended, and its status is that of a time-out.
 */
export function runStep(name: string, args: readonly string[], limitMs: number): Promise<StepResult> {
  const started = performance.now();
  const full = [...nodeArguments(), MAIN, ...args, '--json'];
  return new Promise((resolve) => {
    execFile(process.execPath, full, { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: 256 << 20 }, (error, stdout, stderr) => {
      const late = error?.killed === true;
      const status = late ? EXIT.timeout : error === null ? EXIT.executed : typeof error.code === 'number' ? error.code : EXIT.broken;
      const { records, whole, broken } = readable(stdout);
      const said = stderr
        .trim()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('Warning:'))
        .at(-1);
      const why = late ? `it took longer than ${limitMs / 1000} s` : (said ?? `it ended with status ${status} and said nothing`);
      const failure = status !== EXIT.executed ? why : whole ? null : `its records are not whole${broken}`;
      resolve({ name, command: `fleet engine ${args.join(' ')}`, seconds: (performance.now() - started) / 1000, status, failure, records });
    });
  });
}

function readable(stdout: string): { records: EngineRecord[]; whole: boolean; broken: string } {
  try {
    return { ...parseRecords(stdout), broken: '' };
  } catch (error) {
    return { records: [], whole: false, broken: `: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** The first record of a kind that the step wrote. */
export function recordOf<K extends EngineRecord['kind']>(result: StepResult | undefined, kind: K): Extract<EngineRecord, { kind: K }> | undefined {
  return result?.records.find((record): record is Extract<EngineRecord, { kind: K }> => record.kind === kind);
}
