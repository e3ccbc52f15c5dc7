import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { authorise, claimJob, recordFailure, recordProgress } from '../attempts.ts';
import { postLeg } from '../post-leg.ts';
import { attemptFailure, attemptProgress, claimRequest, legPost, type legPostResponse } from '../protocol/agent.ts';
import { jobId } from '../protocol/ids.ts';
import type { Service } from './app.ts';
import { bearer, parsed, readBody } from './wire.ts';

/** Records of 16 MiB and a log of 1 MiB, with room for what JSON escapes. */
const MAX_LEG_BODY_BYTES = 48 * 1024 * 1024;

export function jobRoutes({ store, blobs, carrier, judge, log }: Service): Hono {
  const attemptOf = (context: Context): { job: string; attempt: number } => {
    const job = parsed(jobId, context.req.param('job'), 'job');
    const attempt = parsed(z.coerce.number().int().min(1), context.req.param('attempt'), 'attempt');
    authorise(store.queries, job, attempt, bearer(context));
    return { job, attempt };
  };
  return new Hono()
    .post('/api/jobs/:job/claim', async (context) => {
      const job = parsed(jobId, context.req.param('job'), 'job');
      const { device, agent } = await readBody(context, claimRequest);
      return context.json(claimJob(store, log, job, device, agent));
    })
    .post('/api/jobs/:job/attempts/:attempt/state', async (context) => {
      const { job, attempt } = attemptOf(context);
      const { state, note } = await readBody(context, attemptProgress);
      recordProgress(store, log, job, attempt, state, note);
      return context.json({ ok: true });
    })
    .post('/api/jobs/:job/attempts/:attempt/failed', async (context) => {
      const { job, attempt } = attemptOf(context);
      const failure = await readBody(context, attemptFailure);
      if (recordFailure(store, log, job, attempt, failure.class, failure.reason, failure.next)) await carrier.enqueue(job);
      return context.json({ ok: true });
    })
    .put('/api/jobs/:job/attempts/:attempt/legs/:index', async (context) => {
      const { job, attempt } = attemptOf(context);
      const index = parsed(z.coerce.number().int().min(0), context.req.param('index'), 'index');
      const { accepted, duplicate, completed } = await postLeg(store, blobs, log, job, attempt, index, await readBody(context, legPost, MAX_LEG_BODY_BYTES));
      // The leg is durable now; the agent need not wait for the verdict, and a verdict that is not stored yet is computed again at start.
      if (completed) void judge.judgeJob(job);
      return context.json({ accepted, duplicate } satisfies z.input<typeof legPostResponse>);
    });
}
