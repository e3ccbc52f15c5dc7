/** The verdict of one job's candidate arm against the baseline, and everything it was computed from. */
import { z } from 'zod';
import { evidence } from '../../engine/protocol.ts';
import { calibrationUse } from './calibration.ts';
import { sha256 } from './ids.ts';

export const verdictWord = z.enum([
  'void',
  'not-run',
  'output-differs',
  'new-failure',
  'fixed',
  'pre-existing',
  'same',
  'rule-met',
  'rule-not-met',
  'undecided',
]);
export type VerdictWord = z.infer<typeof verdictWord>;

/** Exit status of `submit --wait` and `watch` for one verdict; a run exits with its worst (1, then 3, then 0). */
export const VERDICT_EXIT: Readonly<Record<VerdictWord, 0 | 1 | 3>> = {
  same: 0,
  fixed: 0,
  'pre-existing': 0,
  'rule-met': 0,
  'output-differs': 1,
  'new-failure': 1,
  'rule-not-met': 1,
  void: 3,
  'not-run': 3,
  undecided: 3,
};

/** One baseline leg and one candidate leg next to each other in the order. Gain = (base − cand)/base. */
export const pairRow = z.object({
  case: z.string(),
  pair: z.int().min(1),
  order: z.enum(['baseline-first', 'candidate-first']),
  baselineLeg: z.int(),
  candidateLeg: z.int(),
  baselineMs: z.number(),
  candidateMs: z.number(),
  gainPercent: z.number(),
  flags: z.array(z.string()).describe('e.g. "candidate leg 1.9× its arm’s median"'),
  machine: z.array(z.string()).optional().describe('how the machine’s states before the two legs differ; absent where they do not, or nothing is known'),
});
export type PairRow = z.infer<typeof pairRow>;

/** A pair that counts in no figure. */
export const voidPair = z.object({ pair: z.int().min(1), baselineLeg: z.int(), candidateLeg: z.int(), reason: z.string() });
export type VoidPair = z.infer<typeof voidPair>;

/** How many of an arm's legs ran in another mode. */
export const modeShare = z.object({ hits: z.int().min(0), of: z.int().min(0) });

/** Statistics of one case's pairs. Null where too few pairs exist; what is optional is absent from verdicts of earlier versions. */
export const effect = z.object({
  case: z.string(),
  metric: z.string().describe('what was timed, with its definition'),
  pairs: z.array(pairRow),
  voidPairs: z.array(voidPair).optional().describe('pairs just before or after whose legs another process was on the GPU; absent: none'),
  medianPercent: z.number(),
  minPercent: z.number(),
  maxPercent: z.number(),
  everyPairPositive: z.boolean(),
  hodgesLehmannPercent: z.number(),
  interval: z.object({ low: z.number(), high: z.number(), confidence: z.number() }).nullable(),
  signFlipP: z.number().describe('exact one-sided sign-flip test of gain > 0'),
  smallestP: z.number().describe('1 / 2^pairs, the least p that this many pairs can reach'),
  signFlipTwoSidedP: z.number().optional().describe('the same test of gain ≠ 0'),
  medianWithoutFlaggedPercent: z.number().nullable(),
  order: z
    .object({ secondSlowerPercent: z.number(), p: z.number(), baselineFirst: z.int(), candidateFirst: z.int() })
    .nullable()
    .optional()
    .describe('what second place within a pair costs; null where one order has no pair'),
  modes: z
    .object({ baseline: modeShare, candidate: modeShare, fisherP: z.number() })
    .optional()
    .describe('legs beyond 1.5× their arm’s median, and Fisher’s two-sided p that the arms share one rate'),
  morePairs: z
    .int()
    .min(0)
    .nullable()
    .optional()
    .describe('pairs still needed for 80 % odds of one-sided p ≤ 0.05, if gains go on as these; null where no number is enough'),
  ruleMet: z.boolean(),
  ruleNote: z.string(),
});
export type Effect = z.infer<typeof effect>;

/** How one forecast came out. `missPercent` is how far the median lies outside of the range, in points: 0 for a hit, negative below. */
export const forecastScore = z.object({
  case: z.string(),
  lowPercent: z.number(),
  highPercent: z.number(),
  confidencePercent: z.number().nullable(),
  medianPercent: z.number(),
  hit: z.boolean(),
  missPercent: z.number(),
  brier: z.number().nullable().describe('(confidence − hit)²; null where no confidence was stated'),
});
export type ForecastScore = z.infer<typeof forecastScore>;

/** Output identity of one case. */
export const identity = z.object({
  case: z.string(),
  status: z.enum(['same', 'differs', 'not-comparable']),
  baselineDigest: z.string().nullable(),
  candidateDigest: z.string().nullable(),
  pinnedIdsMatch: z.boolean().nullable(),
  firstDifferingStep: z.int().nullable(),
  note: z.string(),
  logits: z
    .object({
      attested: z.literal('agent').describe('the rows stayed on the box; the figures are the agent’s word'),
      limit: z.number(),
      baselineLeg: z.int(),
      candidateLeg: z.int(),
      maxAbsDifference: z.number(),
      atStep: z.int(),
      firstDifferingStep: z.int().nullable(),
      marginThere: z.number().nullable(),
      idsEqual: z.boolean(),
    })
    .optional()
    .describe('where the sealed identity is logits<=X and the digests differ'),
});
export type Identity = z.infer<typeof identity>;

/** One line of both arms after masking. `masked` names the fields that were taken out, such as "gates ms". */
export const lineRow = z.object({
  case: z.string(),
  status: z.enum(['equal', 'differs', 'baseline-only', 'candidate-only']),
  baseline: z.string().nullable(),
  candidate: z.string().nullable(),
  masked: z.array(z.string()),
});
export type LineRow = z.infer<typeof lineRow>;

/** One case of a kernel that is not the same in both arms. Fractions are of the spec bound; null where the case is exact. */
const contractCaseRow = z.object({ name: z.string(), sameBits: z.boolean(), baseline: z.number().nullable(), candidate: z.number().nullable() });

/** One kernel or control, head against head. */
export const contractRow = z.object({
  kernel: z.string(),
  status: z.enum(['same', 'new-failure', 'fixed', 'pre-existing', 'contract-changed', 'not-comparable']),
  baseline: z.string(),
  candidate: z.string(),
  note: z.string(),
  worst: z
    .object({ baseline: z.number().nullable(), candidate: z.number().nullable() })
    .optional()
    .describe('largest |error| of the kernel’s cases as a fraction of the spec bound; absent of controls and in verdicts of earlier versions'),
  differingCases: z.int().optional().describe('cases of both arms whose output bits or worst fraction differ'),
  cases: z.array(contractCaseRow).optional().describe('of these, the ones that drifted most, largest drift first'),
});
export type ContractRow = z.infer<typeof contractRow>;

export const verdict = z.object({
  device: z.string(),
  suite: z.string(),
  candidate: z.string().describe('the arm, as written'),
  evidence: evidence,
  verdict: verdictWord,
  reason: z.string().describe('one sentence'),
  identities: z.array(identity),
  lines: z.array(lineRow),
  contract: z.array(contractRow),
  effects: z.array(effect).describe('empty unless the output is the same: no gain is shown for a wrong answer'),
  forecasts: z.array(forecastScore).optional().describe('the sealed forecast against these effects'),
  calibration: z.string().describe('the device’s A/A floors and false-verdict rates, or that there are none'),
  calibrations: z.array(calibrationUse).optional().describe('the same, a case each; absent where the device has none'),
  computedFrom: sha256.describe('SHA-256 of the canonical JSON of the records used'),
});
export type Verdict = z.infer<typeof verdict>;
