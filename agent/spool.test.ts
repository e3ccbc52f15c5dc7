import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LegPost } from '../coordinator/protocol/agent.ts';
import { ApiError, type AttemptKey } from './api-client.ts';
import { openLog } from './events.ts';
import { Spool } from './spool.ts';

const key: AttemptKey = { job: 'r0000000000.b60.decode', attempt: 2, token: 'attempt-token' };
const post: LegPost = {
  measure: {
    outcome: 'executed',
    exitCode: 0,
    signal: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    wallMs: 5,
    vmHwmKiB: 1,
    lockHeldBefore: true,
    lockHeldAfter: true,
    note: '',
  },
  records: null,
  log: 'passed=1 total=1\n',
};
const refusal = (status: number): ApiError => new ApiError(status, 'conflict', `status ${status}`, '');

describe('Spool', () => {
  let root: string;
  const posted: [number, string, number][] = [];
  /** What the coordinator answers, in order; an empty list accepts. */
  let answers: (ApiError | null)[] = [];
  const api = {
    postLeg: (to: AttemptKey, index: number) => {
      posted.push([to.attempt, to.token, index]);
      const answer = answers.shift() ?? null;
      return answer === null ? Promise.resolve({ accepted: false, duplicate: false }) : Promise.reject(answer);
    },
  };
  const open = (): Spool => new Spool(root, api, openLog('silent', 'b60'));
  const fileOf = (index: number): string => join(root, key.job, '2', `${index}.json`);

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'fleet-spool-'));
    posted.length = 0;
    answers = [];
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('writes a leg that only its owner can read, token included', async () => {
    await open().write(key, 0, post);
    expect(statSync(fileOf(0)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(fileOf(0), 'utf8'))).toMatchObject({ token: 'attempt-token', index: 0, post: { log: post.log } });
  });

  it('posts in the order of legs and removes what was answered', async () => {
    const spool = open();
    for (const index of [10, 2, 0]) await spool.write(key, index, post);
    expect(await spool.tryPost(key)).toBe(true);
    expect(posted.map(([, , index]) => index)).toEqual([0, 2, 10]);
    expect(existsSync(join(root, key.job))).toBe(false);
  });

  it('keeps a leg that got no answer, and another process posts it with the stored token', async () => {
    await open().write(key, 0, post);
    answers = [refusal(0), refusal(0)];
    expect(await open().tryPost(key)).toBe(false);
    expect(existsSync(fileOf(0))).toBe(true);
    await open().postAll();
    expect(posted).toEqual(Array.from({ length: 3 }, () => [2, 'attempt-token', 0]));
    expect(existsSync(fileOf(0))).toBe(false);
  });

  it('tries again until it is answered', async () => {
    const spool = open();
    await spool.write(key, 0, post);
    answers = [refusal(0), refusal(503)];
    await spool.post(key);
    expect(posted).toHaveLength(3);
  });

  it('does not take the answer of another program for the coordinator’s', async () => {
    const spool = open();
    await spool.write(key, 0, post);
    answers = [new ApiError(404, 'internal', 'answered 404: no such page', '')];
    await spool.post(key);
    expect(posted).toHaveLength(2);
  });

  it('stops trying when told to, and keeps the leg', async () => {
    const spool = open();
    await spool.write(key, 0, post);
    answers = Array.from({ length: 50 }, () => refusal(0));
    const stop = new AbortController();
    setTimeout(() => stop.abort('the agent was stopped'), 400);
    await expect(spool.postAll(stop.signal)).rejects.toThrow('the agent was stopped');
    expect(existsSync(fileOf(0))).toBe(true);
  });

  it.each([409, 404, 403])('drops a leg that the coordinator wants no more (%i), and ends the attempt', async (status) => {
    const spool = open();
    await spool.write(key, 0, post);
    answers = [refusal(status)];
    await expect(spool.tryPost(key)).rejects.toThrow('wants no more');
    expect(existsSync(fileOf(0))).toBe(false);
  });

  it('keeps, but never posts again, what the coordinator cannot read and what a crash cut short', async () => {
    const spool = open();
    await spool.write(key, 0, post);
    await spool.write(key, 1, post);
    writeFileSync(fileOf(1), '{"job":');
    answers = [refusal(400)];
    await spool.postAll();
    expect(posted).toHaveLength(1);
    await spool.postAll();
    expect(posted).toHaveLength(1);
    expect(existsSync(`${fileOf(0)}.rejected`)).toBe(true);
    expect(existsSync(`${fileOf(1)}.rejected`)).toBe(true);
  });
});
