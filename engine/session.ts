/**
 * The frame around one engine command: opens the records, runs the work, and turns whatever ends it into one line on
 * stderr, one record and one exit status.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { EngineRefused, EngineTimeout, EngineUsage } from './errors.ts';
import { closeDevices } from './gpu/device.ts';
import { Relaunched } from './gpu/relaunch.ts';
import { EXIT, RECORD_SCHEMA, type EngineRecord } from './protocol.ts';
import { RecordWriter } from './records.ts';

/** Options that every command takes. */
export interface SessionOptions {
  readonly records?: string | undefined;
  readonly json?: boolean | undefined;
}

/** What a command's work may say. */
export interface Session {
  /** The effective settings. */
  readonly settings: Readonly<Record<string, string>>;
  /** Writes a record. */
  readonly emit: (record: EngineRecord) => void;
  /** Prints a line for people; silent under --json. */
  readonly print: (line: string) => void;
}

/**
 * Runs one command.
 * @param settings parses the `--set` values and returns the effective ones, defaults included.
 * @returns the exit status.
 */
export async function runCommand(
  command: string,
  options: SessionOptions,
  settings: () => Readonly<Record<string, string>>,
  work: (session: Session) => Promise<void>,
): Promise<number> {
  const writer = new RecordWriter(options.records, options.json ?? false);
  let effective: Readonly<Record<string, string>> = {};
  // The first line waits for the second: a command that relaunches itself must leave the file to the second process.
  const begin = (): void => {
    if (writer.lines === 0) writer.emit(engineRecord(command, effective));
  };
  const emit = (record: EngineRecord): void => {
    begin();
    writer.emit(record);
  };
  try {
    effective = settings();
    await work({
      settings: effective,
      emit,
      print: (line) => {
        if (!options.json) process.stdout.write(`${line}\n`);
      },
    });
    begin();
    writer.end();
    return EXIT.executed;
  } catch (error) {
    if (error instanceof Relaunched) return error.status;
    const status = report(command, error, emit);
    // A device that hangs would not let go.
    if (status !== EXIT.timeout) closeDevices();
    return status;
  } finally {
    writer.close();
  }
}

function engineRecord(command: string, settings: Readonly<Record<string, string>>): EngineRecord {
  return {
    schema: RECORD_SCHEMA,
    kind: 'engine',
    command,
    version: packageVersion(new URL('../package.json', import.meta.url)),
    node: process.versions.node,
    webgpu: packageVersion(createRequire(import.meta.url).resolve('webgpu/package.json')),
    platform: `${process.platform}-${process.arch}`,
    pid: process.pid,
    startedAt: new Date().toISOString(),
    settings: { ...settings },
  };
}

function packageVersion(path: string | URL): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(path, 'utf8'))).version;
}

/** Prints `what: why. next: command` on one line, writes the record, and returns the exit status. */
function report(command: string, error: unknown, emit: (record: EngineRecord) => void): number {
  const reason = oneLine(error instanceof Error ? error.message : String(error));
  if (error instanceof EngineUsage) {
    process.stderr.write(`engine ${command}: ${reason}. next: fleet engine ${command} --help\n`);
    return EXIT.usage;
  }
  if (error instanceof EngineRefused) {
    process.stderr.write(`engine ${command}: ${reason}. next: ${error.next}\n`);
    emit({ schema: RECORD_SCHEMA, kind: 'refused', reason, next: error.next });
    return EXIT.refused;
  }
  const timedOut = error instanceof EngineTimeout;
  const next = timedOut
    ? 'look for another process on the GPU, then run it again'
    : 'fleet engine devices --allow-software shows what opens; set ENGINE_TRACE=1 for the stack';
  process.stderr.write(`engine ${command}: ${reason}. next: ${next}\n`);
  if (process.env['ENGINE_TRACE'] && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`);
  emit({ schema: RECORD_SCHEMA, kind: 'failure', reason, next });
  return timedOut ? EXIT.timeout : EXIT.broken;
}

/** Dawn's messages span lines; a refusal is one line. */
function oneLine(text: string): string {
  return text
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim()
    .replace(/\.$/, '');
}
