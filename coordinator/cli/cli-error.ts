import { FLEET_EXIT } from '../protocol/errors.ts';

/** Something that the person at the terminal can act on: printed as one line, `fleet: WHAT AND WHY. next: COMMAND`. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly next: string;
  readonly exitCode: number;

  constructor(message: string, next: string, exitCode: number = FLEET_EXIT.usage, options?: ErrorOptions) {
    super(message, options);
    this.next = next;
    this.exitCode = exitCode;
  }
}

/** The line that is printed for an error; bugs keep their stack. */
export function errorLine(error: unknown): string {
  if (error instanceof CliError) return `fleet: ${error.message.replace(/[.\s]+$/, '')}. next: ${error.next}`;
  return `fleet: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
