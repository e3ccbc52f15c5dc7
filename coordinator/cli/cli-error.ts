import { FLEET_EXIT } from '../protocol/errors.ts';

/** Something that the person at the terminal can act on: printed as one line, `fleet: WHAT AND WHY. next: COMMAND`. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly next: string;
  readonly exitCode: number;
  /** Lines shown beneath: a text that was typed, and a caret under the place that is wrong. */
  readonly pointer: string | undefined;

  constructor(message: string, next: string, exitCode: number = FLEET_EXIT.usage, options?: ErrorOptions & { pointer?: string }) {
    super(message, options);
    this.next = next;
    this.exitCode = exitCode;
    this.pointer = options?.pointer;
  }
}

/** The line that is printed for an error, with what points into a typed text beneath; bugs keep their stack. */
export function errorLine(error: unknown): string {
  if (error instanceof CliError) {
    const line = `fleet: ${error.message.replace(/[.\s]+$/, '')}. next: ${error.next}`;
    return error.pointer === undefined ? line : `${line}\n${error.pointer.replaceAll(/^/gm, '  ')}`;
  }
  return `fleet: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
