/** A request that is declined: what and why in `message`, what helps in `next`. http/ turns it into an errorReply. */
import type { ErrorCode } from './protocol/errors.ts';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly next: string;

  constructor(code: ErrorCode, message: string, next: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.next = next;
  }
}
