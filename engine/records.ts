/** Writes the records of one engine process: one JSON object a line, ended by an `end` record that counts them. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { EngineUsage } from './errors.ts';
import { vmHwmKiB } from './process-memory.ts';
import { engineRecordLine, RECORD_SCHEMA, type EngineRecord } from './protocol.ts';

export class RecordWriter {
  readonly #startedAt = performance.now();
  readonly #path: string | undefined;
  readonly #stdout: boolean;
  #file: number | undefined;
  #lines = 0;

  /**
   * @param path file to create or overwrite with the first record; undefined: no file.
   * @param stdout whether the lines are printed as well (`--json`).
   */
  constructor(path: string | undefined, stdout: boolean) {
    this.#path = path;
    this.#stdout = stdout;
  }

  /** Lines written so far. */
  get lines(): number {
    return this.#lines;
  }

  /** Writes one record. @throws when it does not fit the protocol: a malformed line would void the leg later. EngineUsage when the file cannot be written. */
  emit(record: EngineRecord): void {
    if (this.#path !== undefined) this.#file ??= open(this.#path);
    const line = `${JSON.stringify(engineRecordLine.parse(record))}\n`;
    this.#lines++;
    if (this.#stdout) process.stdout.write(line);
    if (this.#file !== undefined) writeSync(this.#file, line);
  }

  /** Writes the `end` record: only a process that executed calls this. */
  end(): void {
    const status = processStatus();
    this.emit({ schema: RECORD_SCHEMA, kind: 'end', records: this.#lines, wallMs: performance.now() - this.#startedAt, ...status });
  }

  /** Flushes to the disk and closes. */
  close(): void {
    if (this.#file === undefined) return;
    fsyncSync(this.#file);
    closeSync(this.#file);
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (cause) {
    throw new EngineUsage(`--records ${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Peak resident set and major faults of this process. */
function processStatus(): { vmHwmKiB: number | null; majorFaults: number | null } {
  if (process.platform !== 'linux') return { vmHwmKiB: null, majorFaults: null };
  return { vmHwmKiB: vmHwmKiB(), majorFaults: process.resourceUsage().majorPageFault };
}
