/**
 * What the agent and its supervisor say to each other: one JSON object a line, over the supervisor's stdin and stdout.
 *
 * There is no stop message. The end of stdin, whether the agent closed it, exited or was killed, always means: kill what runs,
 * release the lock, exit.
 */
import { z } from 'zod';

const lockCommand = z.strictObject({ kind: z.literal('lock'), path: z.string() });
const legCommand = z.strictObject({
  kind: z.literal('leg'),
  index: z.int(),
  argv: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  timeoutMs: z.number(),
  marker: z.string(),
});
export const supervisorCommand = z.discriminatedUnion('kind', [lockCommand, legCommand]);
export type SupervisorCommand = z.infer<typeof supervisorCommand>;
export type LegCommand = z.infer<typeof legCommand>;

const commandResult = z.object({
  spawnError: z.string().nullable(),
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  startedAt: z.string(),
  wallMs: z.number(),
  vmHwmKiB: z.number().nullable(),
  majorFaults: z.number().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  droppedBytes: z.number(),
  swept: z.number(),
});

/** `ran` is null when the lock was already lost before the leg: then nothing is started. */
const legReport = z.object({
  kind: z.literal('leg'),
  index: z.int(),
  lockHeldBefore: z.boolean(),
  lockHeldAfter: z.boolean(),
  /** Who holds the file of that name once it was lost, as far as the host tells; null where it was not, or nobody does. */
  lockTakenBy: z.string().nullable(),
  ran: commandResult.nullable(),
});
export type LegReport = z.infer<typeof legReport>;

export const supervisorReport = z.discriminatedUnion('kind', [
  /** Sent at the first failed try and when the holder changes. */
  z.object({ kind: z.literal('waiting'), holder: z.string().nullable() }),
  z.object({ kind: z.literal('locked') }),
  z.object({ kind: z.literal('started'), index: z.int(), pid: z.int().nullable() }),
  legReport,
  /** The supervisor cannot go on (no flock binary, lock file not writable); it exits after this. */
  z.object({ kind: z.literal('fault'), message: z.string() }),
]);
export type SupervisorReport = z.infer<typeof supervisorReport>;
