/** Names and identifiers that cross a process boundary. */
import { z } from 'zod';

/** A resolved head: 40 lower-case hex digits. */
export const sha1 = z.string().regex(/^[0-9a-f]{40}$/, 'expected a commit of 40 hex digits');
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 of 64 hex digits');

/** Run ids: `r` and 10 characters of Crockford base 32. BullMQ refuses ids that are integers or hold a colon. */
export const runId = z.string().regex(/^r[0-9a-hjkmnp-tv-z]{10}$/, 'expected a run id such as r3k9x0c2wqz');
/** Job ids: RUN.DEVICE.SUITE. */
export const jobId = z.string().regex(/^r[0-9a-hjkmnp-tv-z]{10}\.[a-z0-9][a-z0-9-]{0,31}\.[a-z][a-z0-9-]{0,31}$/, 'expected a job id RUN.DEVICE.SUITE');
export const deviceName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'a device name has 1 to 32 of a-z, 0-9 and "-"');
export const suiteName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'a suite name has 1 to 32 of a-z, 0-9 and "-"');
export const caseName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a case name has 1 to 64 of letters, digits, ".", "_" and "-"');
/** A case of a suite, as typed: SUITE/CASE. */
export const casePath = z.string().regex(/^[a-z][a-z0-9-]{0,31}\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a case is named SUITE/CASE');
/** Settings of an arm: NAME=VALUE, passed to the leg command as `--set NAME=VALUE`. */
export const settingName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);
export const settingValue = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
export const settings = z.record(settingName, settingValue);

/** What the order of legs is planned with (core/plan.ts); 0 is old,new,new,old,old,new. */
export const orderSeed = z.int().min(0).max(2_147_483_647);

/** The BullMQ queue of a device. */
export const queueName = (device: string): string => `dev-${device}`;
