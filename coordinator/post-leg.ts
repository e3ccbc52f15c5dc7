/** Stores one leg's results: files first, then one transaction; that of the last leg, or of one that ends the series, also accepts the attempt. */
import { addBlob } from '../db/queries/blobs.ts';
import { findAttempt } from '../db/queries/attempts.ts';
import { acceptAttempt } from '../db/queries/jobs.ts';
import { addLegResult, findLegResult, listLegResults } from '../db/queries/leg-results.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import type { Store } from '../db/open.ts';
import { acceptIfFirst, existingJob } from './attempts.ts';
import type { BlobStore } from './blobs.ts';
import { canonicalJson, sha256Hex } from './core/canonical.ts';
import type { Log } from './events.ts';
import type { LegPost } from './protocol/agent.ts';
import { endsSeries } from './protocol/states.ts';
import { Refusal } from './refusal.ts';

export interface PostedLeg {
  /** This attempt is the job's accepted one. */
  readonly accepted: boolean;
  readonly duplicate: boolean;
  /** This very leg made it so: the job can be judged. */
  readonly completed: boolean;
}

/**
 * @param number the attempt, whose token was checked. A failed attempt's legs are kept too.
 * @throws Refusal bad-request (no such leg), too-large, or conflict (another result is stored for this leg of this attempt).
 */
export async function postLeg(store: Store, blobs: BlobStore, log: Log, id: string, number: number, position: number, post: LegPost): Promise<PostedLeg> {
  const planned = listPlannedLegs(store.queries, id);
  if (!planned.some((leg) => leg.position === position))
    throw new Refusal(
      'bad-request',
      `job ${id} has legs ${planned[0]?.position} to ${planned.at(-1)?.position}, not ${position}`,
      'post the legs of the claimed spec',
    );
  const stored = { records: post.records === null ? null : await blobs.put(post.records), log: await blobs.put(post.log) };
  const bodySha256 = sha256Hex(canonicalJson(post));
  const at = new Date().toISOString();
  const posted = store.transaction((tx): PostedLeg => {
    const row = existingJob(tx, id);
    const attempt = findAttempt(tx, id, number)!;
    for (const blob of [stored.records, stored.log]) if (blob) addBlob(tx, { ...blob, addedAt: at });
    const added = addLegResult(tx, {
      job: id,
      attempt: number,
      position,
      measure: post.measure,
      records: stored.records?.sha256 ?? null,
      log: stored.log.sha256,
      bodySha256,
      receivedAt: at,
    });
    if (!added) {
      if (findLegResult(tx, id, number, position)?.bodySha256 !== bodySha256)
        throw new Refusal(
          'conflict',
          `leg ${position} of attempt ${number} of job ${id} has another result already`,
          'keep the first; a new measurement needs a new attempt',
        );
      return { accepted: row.acceptedAttempt === number, duplicate: true, completed: false };
    }
    const whole = listLegResults(tx, id, number).length >= planned.length || endsSeries(row.spec.kind, post.measure.outcome);
    if (!whole) return { accepted: false, duplicate: false, completed: false };
    const accepted = acceptIfFirst(tx, row, attempt, (job, n, when) => acceptAttempt(tx, job, n, when), at);
    return { accepted, duplicate: false, completed: accepted };
  });
  if (posted.completed) log.event('attempt.accepted', { job: id, attempt: number });
  return posted;
}
