/** What was measured before of what a submission asks for, so that nothing is measured twice by oversight. */
import { z } from 'zod';
import { deviceName, runId, suiteName } from './ids.ts';
import { verdict } from './verdict.ts';

/** A device × suite whose same trees, settings and cases an earlier run measured, on the same adapter and driver. */
export const measuredBefore = z.object({
  device: deviceName,
  suite: suiteName,
  run: runId,
  url: z.url(),
  at: z.iso.datetime().describe('when its verdicts were computed'),
  rule: z.string().describe('what was sealed for it'),
  pairs: z.int().describe('pairs a case and candidate, with those that were added'),
  verdicts: z.array(verdict.pick({ candidate: true, verdict: true, reason: true })),
  unanswered: z.string().nullable().describe('why its verdicts do not answer this submission (another rule, fewer pairs); null: they do'),
});
export type MeasuredBefore = z.infer<typeof measuredBefore>;

/** POST /api/runs/measured takes a submission, stores nothing, and replies with this. */
export const measuredReply = z.object({
  measured: z.array(measuredBefore).describe('one a device × suite, in the order of the submission'),
  missing: z.array(z.object({ device: deviceName, suite: suiteName })).describe('what no run measured'),
});
export type MeasuredReply = z.infer<typeof measuredReply>;
