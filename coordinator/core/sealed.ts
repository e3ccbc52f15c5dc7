/**
 * The sealed text of a run: what it says, and whether the stored run is still that.
 *
 * Triggers keep sealed rows from changing through fleet. Whoever edits the file past them is found here: the text must have its hash,
 * the hash must be the one that the submission's event states, and rule, arms and order of legs must be those of the text.
 */
import { z } from 'zod';
import {
  DEFAULT_RULE,
  extension,
  forecast as forecastShape,
  rule as ruleShape,
  type Extension,
  type Forecast,
  type PlannedLeg,
  type Rule,
} from '../protocol/run.ts';
import { sealedCalibration, type SealedCalibration } from '../protocol/calibration.ts';
import { orderSeed } from '../protocol/ids.ts';
import { canonicalJson, sha256Hex } from './canonical.ts';
import { ruleOf } from './rule.ts';

/** The rule of seals of schema 1, which knew no grammar. */
const ruleOfSchema1 = z.strictObject({ identity: ruleShape.shape.identity, medianPercent: z.number(), everyPairPositive: z.boolean() });

const rest = {
  arms: z.array(z.object({ label: z.string(), head: z.string(), settings: z.record(z.string(), z.string()), tree: z.string() })),
  pairs: z.int(),
  allowSoftware: z.boolean(),
  suites: z.array(
    z.object({
      name: z.string(),
      spec: z.looseObject({ cases: z.array(z.looseObject({ name: z.string(), args: z.array(z.string()) })) }),
      order: z.unknown(),
      pinnedIds: z.record(z.string(), z.unknown()),
    }),
  ),
};
const sealedText = z.discriminatedUnion('schema', [
  z.object({ schema: z.literal(1), rule: ruleOfSchema1, forecast: z.null(), ...rest }),
  z.object({
    schema: z.literal(2),
    rule: ruleShape,
    forecast: forecastShape.nullable(),
    extends: extension.optional(),
    stack: z.boolean().optional(),
    mergeBase: z.int().min(0).optional(),
    seed: orderSeed.optional(),
    calibrates: z.literal(true).optional(),
    drivers: z.record(z.string(), z.string()).optional(),
    calibrations: z.array(sealedCalibration).optional(),
    ...rest,
  }),
]);

export interface SealedTerms {
  readonly rule: Rule;
  readonly forecast: Forecast | null;
  /** The run that this one adds pairs to. */
  readonly extends: Extension | null;
  /** Each arm is compared with the one below it. */
  readonly stack: boolean;
  /** Position of the arm that is the merge base of the heads; absent: none was asked for. */
  readonly mergeBase?: number;
  /** What the order of legs was planned with; absent from seals of earlier versions, whose order is that of seed 0. */
  readonly seed?: number;
  /** An A/A calibration. */
  readonly calibrates?: true;
}

/** What decides a run, from the sealed text alone. @throws Error when the text is none that fleet ever sealed. */
export function readSeal(text: string): SealedTerms {
  const sealed = sealedText.parse(JSON.parse(text));
  if (sealed.schema === 1) return { rule: fromSchema1(sealed.rule), forecast: null, extends: null, stack: false };
  const { rule, forecast, extends: added = null, stack = false, seed, mergeBase, calibrates } = sealed;
  const given = Object.fromEntries(Object.entries({ seed, mergeBase, calibrates }).filter(([, value]) => value !== undefined));
  return { rule, forecast, extends: added, stack, ...given };
}

/** What the seal says of the devices' own noise. */
export interface SealedNoise {
  /** Driver that each device was registered with at submission; a device of an earlier version's seal is not there. */
  readonly drivers: Readonly<Record<string, string>>;
  /** Null: the seal is of an earlier version, or of an A/A calibration, and verdicts use no floor. */
  readonly calibrations: readonly SealedCalibration[] | null;
}

/** @throws Error as `readSeal` does. */
export function sealedNoise(text: string): SealedNoise {
  const sealed = sealedText.parse(JSON.parse(text));
  return sealed.schema === 1 ? { drivers: {}, calibrations: null } : { drivers: sealed.drivers ?? {}, calibrations: sealed.calibrations ?? null };
}

/** The arms as sealed. @throws Error as `readSeal` does. */
export function sealedArms(text: string): readonly { readonly label: string; readonly head: string; readonly settings: Readonly<Record<string, string>> }[] {
  return sealedText.parse(JSON.parse(text)).arms;
}

function fromSchema1({ identity, medianPercent, everyPairPositive }: z.infer<typeof ruleOfSchema1>): Rule {
  return ruleOf(identity, [
    { subject: 'median', op: '>=', value: medianPercent },
    ...(everyPairPositive ? DEFAULT_RULE.clauses.filter((clause) => clause.subject === 'every pair') : []),
    { subject: 'median', op: '>', value: 'floor' },
  ]);
}

/** The run as the database holds it now. */
export interface StoredRun {
  readonly sealText: string;
  readonly sealSha256: string;
  /** The hash that the event of the submission states; null: there is no such event. */
  readonly sealEvent: string | null;
  readonly rule: unknown;
  readonly pairs: number;
  readonly allowSoftware: boolean;
  readonly arms: readonly { label: string; head: string; settings: Readonly<Record<string, string>>; tree: string }[];
  /** Some or all of the run's jobs. */
  readonly jobs: readonly { suite: string; spec: unknown; legs: readonly (PlannedLeg & { args: readonly string[]; pinnedIds: readonly number[] | null })[] }[];
}

/** How the stored run differs from what was sealed, one sentence; null when it does not. */
export function sealDefect(run: StoredRun): string | null {
  const hash = sha256Hex(run.sealText);
  if (hash !== run.sealSha256) return `the sealed text was changed: it hashes to ${hash.slice(0, 12)}, and ${run.sealSha256.slice(0, 12)} was sealed`;
  if (run.sealEvent !== null && run.sealEvent !== hash)
    return `the seal was replaced: the run was submitted as ${run.sealEvent.slice(0, 12)}, and the database holds ${hash.slice(0, 12)}`;
  let sealed: z.infer<typeof sealedText>;
  try {
    sealed = sealedText.parse(JSON.parse(run.sealText));
  } catch {
    return 'the sealed text is none that this version of fleet can read';
  }
  if (!same(sealed.rule, run.rule)) return `the rule was changed after sealing: sealed ${quoted(sealed.rule)}, stored ${quoted(run.rule)}`;
  if (sealed.pairs !== run.pairs) return `the number of pairs was changed after sealing: sealed ${sealed.pairs}, stored ${run.pairs}`;
  if (sealed.allowSoftware !== run.allowSoftware) return 'the consent to software devices was changed after sealing';
  if (!same(sealed.arms, run.arms)) return 'the arms were changed after sealing';
  for (const { suite, spec, legs } of run.jobs) {
    const there = sealed.suites.find((item) => item.name === suite);
    if (there === undefined) return `suite ${suite} was added after sealing`;
    if (!same(there.spec, spec)) return `suite ${suite} was changed after sealing`;
    const order = legs.map(({ index, arm, case: name, pair }) => ({ index, arm, case: name, pair }));
    if (!same(there.order, order)) return `the order of the legs of ${suite} was changed after sealing`;
    const argsOf = new Map(there.spec.cases.map((item) => [item.name, item.args]));
    if (legs.some((leg) => !same(argsOf.get(leg.case) ?? null, leg.args))) return `the arguments of legs of ${suite} were changed after sealing`;
    if (legs.some((leg) => !same(there.pinnedIds[leg.case] ?? null, leg.pinnedIds))) return `the pinned ids of ${suite} were changed after sealing`;
  }
  return null;
}

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

function quoted(rule: unknown): string {
  const text = ruleShape.safeParse(rule).data?.text;
  return `"${text ?? canonicalJson(rule)}"`;
}
