/** Values that another library computed (oracle.py), published pairs, and recorded legs. */
import { z } from 'zod';
import oracleFile from './oracle.json' with { type: 'json' };
import publishedFile from './published-pairs.json' with { type: 'json' };
import recordedFile from './recorded-legs.json' with { type: 'json' };

const gains = z.array(z.number());
const sided = z.strictObject({ gains, greater: z.number(), twoSided: z.number() });
const share = z.tuple([z.number(), z.number()]);
const oracle = z.strictObject({
  library: z.string(),
  signFlip: z.array(sided),
  signedRank: z.array(sided),
  hodgesLehmann: z.array(z.strictObject({ gains, estimate: z.number(), interval: z.strictObject({ low: z.number(), high: z.number() }).nullable() })),
  fisher: z.array(z.strictObject({ a: share, b: share, greater: z.number(), less: z.number(), twoSided: z.number() })),
  rate: z.array(z.strictObject({ hits: z.number(), of: z.number(), low: z.number(), high: z.number() })),
  orderEffect: z.array(z.strictObject({ candidateFirst: gains, baselineFirst: gains, p: z.number(), shift: z.number() })),
  manyPairs: z.array(z.strictObject({ candidateFirst: gains, baselineFirst: gains, p: z.number() })),
});

/** Pairs that people published: times, and the gains that those times have. */
const publishedPairs = z.array(
  z.object({ name: z.string(), unit: z.literal('ms'), baseline: gains, candidate: gains, gainPercent: gains, medianPercent: z.number() }),
);

/** Times of real decode legs, one process each, as two devices ran them. */
const recordedLegs = z.array(z.object({ name: z.string(), unit: z.literal('ms'), legs: gains.min(30) }));

export const ORACLE = oracle.parse(oracleFile);
export const PUBLISHED_PAIRS = publishedPairs.parse(publishedFile);
export const RECORDED_LEGS = recordedLegs.parse(recordedFile);
