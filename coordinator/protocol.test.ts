/** Words that other programs and old heads depend on: a change of one shows here, and is then made on purpose. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { API_ROUTES } from './protocol/api.ts';
import { errorReply, FLEET_EXIT } from './protocol/errors.ts';
import { manifest } from './protocol/manifest.ts';
import { ATTEMPT_TRANSITIONS, attemptState, JOB_TRANSITIONS, jobState, legOutcome } from './protocol/states.ts';
import { VERDICT_EXIT, verdictWord } from './protocol/verdict.ts';

const README = readFileSync(new URL('./README.md', import.meta.url), 'utf8');

it('has these states, transitions, verdicts, error codes and exit statuses', () => {
  expect({
    jobState: jobState.options,
    jobTransitions: JOB_TRANSITIONS,
    attemptState: attemptState.options,
    attemptTransitions: ATTEMPT_TRANSITIONS,
    legOutcome: legOutcome.options,
    verdicts: verdictWord.options,
    verdictExit: VERDICT_EXIT,
    errorCodes: errorReply.shape.error.shape.code.options,
    exit: FLEET_EXIT,
  }).toMatchSnapshot();
});

it('has these routes, and the README names each', () => {
  expect(API_ROUTES.map(([method, path]) => `${method} ${path}`)).toMatchSnapshot();
  for (const [method, path] of API_ROUTES) expect(README).toMatch(new RegExp(`\`${method} ${path.replaceAll('/', '\\/')}[?\`]`));
});

it('has these fleet.json keys', () => {
  expect(z.toJSONSchema(manifest, { io: 'input' })).toMatchSnapshot();
});

it('draws its transitions in the README as they are', () => {
  const drawn = [...README.matchAll(/^ {2}(\w+) --> (\w+)/gm)].map(([, from, to]) => `${from} ${to}`.replaceAll('_', '-'));
  const tables: Record<string, readonly string[]>[] = [JOB_TRANSITIONS, ATTEMPT_TRANSITIONS];
  const allowed = tables.flatMap((table) => Object.entries(table).flatMap(([from, targets]) => targets.map((to) => `${from} ${to}`)));
  expect(drawn.toSorted()).toEqual(allowed.toSorted());
});
