/** The one shape of an error reply, and the exit statuses of `fleet`. */
import { z } from 'zod';

export const errorReply = z.object({
  error: z.object({
    /** Stable word for programs. */
    code: z.enum([
      'bad-request',
      'unknown-head',
      'no-manifest',
      'bad-manifest',
      'unknown-device',
      'unknown-suite',
      'no-device',
      'not-found',
      'conflict',
      'gone',
      'forbidden',
      'too-large',
      'unavailable',
      'internal',
    ]),
    /** What and why, one line. */
    message: z.string(),
    /** The next command. */
    next: z.string(),
  }),
});
export type ErrorReply = z.infer<typeof errorReply>;
export type ErrorCode = ErrorReply['error']['code'];

/** Exit statuses of `fleet`. 0, 1 and 3 come from verdicts (verdict.ts). */
export const FLEET_EXIT = { ok: 0, differs: 1, usage: 2, inconclusive: 3, access: 4, infrastructure: 5, timeout: 124, interrupted: 130 } as const;
