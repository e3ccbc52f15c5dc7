/**
 * `fleet.json`: what a head says about itself. Read with `git show HEAD:fleet.json`; the baseline's cases bind.
 *
 * A leg's argv is `command`, then the case's `args`, then, for a suite with `settings: true`, `--set NAME=VALUE` for each of
 * the arm's settings. Placeholders that stand as a whole argument or inside one are replaced by the agent:
 * `{records}` (file to write records to), `{out}` (an empty folder kept with the leg), `{adapter}` (the device's adapter
 * name), `{case}` (the case's name), `{pinned}` (a JSON file with the case's pinned ids), `{logits}` (a file to write logits rows to). An argument
 * `{allow-software}` becomes `--allow-software` on a software device and vanishes elsewhere; an argument holding
 * `{pinned}` vanishes, with the one before it, where the case pins nothing, and so does one holding `{logits}` in legs whose rows are not
 * compared: `identity logits <= X` in the rule compares the first legs of each case.
 */
import { z } from 'zod';
import { caseName, suiteName } from './ids.ts';

const argument = z.string().max(4096);

export const manifestCase = z.strictObject({
  name: caseName,
  args: z.array(argument).default([]),
  /** Path in the head of a JSON file whose `ids` (or whole array) are the ids this case must produce. */
  pinned: z.string().min(1).optional(),
});

export const manifestSuite = z.strictObject({
  /** How results are judged: `contract` and `decode` read records, `lines` compares stdout line by line. */
  kind: z.enum(['contract', 'decode', 'lines']),
  command: z.array(argument).min(1),
  cases: z.array(manifestCase).min(1),
  /** Pass the arm's settings as `--set NAME=VALUE`. */
  settings: z.boolean().default(false),
  /** Timed suites run `pairs` pairs of legs a case; others one leg per arm and case. */
  timed: z.boolean().default(false),
  /** Timed `lines` suites: the printed field that holds the time, as masking names it (`decode_ms`, `gates ms`). Absent: the process's wall time. */
  time: z.string().min(1).max(80).optional(),
  timeoutS: z.int().min(1).max(86_400).default(600),
});

export const manifest = z.strictObject({
  schema: z.literal(1),
  /** Run once per head, outside the lock, in the worktree. `npm`: `npm ci --ignore-scripts` from the lock file, once per lock-file hash, with these packages' scripts allowed. */
  prepare: z
    .strictObject({
      npm: z.strictObject({ allowScripts: z.array(z.string()).default([]) }).optional(),
      command: z.array(argument).min(1).optional(),
      timeoutS: z.int().min(1).max(86_400).default(1800),
    })
    .default({ timeoutS: 1800 }),
  suites: z.record(suiteName, manifestSuite).refine((suites) => Object.keys(suites).length > 0, 'a manifest names at least one suite'),
});

export type Manifest = z.infer<typeof manifest>;
export type ManifestSuite = z.infer<typeof manifestSuite>;
