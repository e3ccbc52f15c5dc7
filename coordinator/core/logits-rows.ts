/** Which legs' logits rows an agent compares where the sealed identity is `logits <= X`, and what its figures say. */
import type { RowsPair } from '../protocol/agent.ts';
import type { PlannedLeg, RowsComparison } from '../protocol/run.ts';
import type { Identity } from '../protocol/verdict.ts';
import type { Comparison } from './comparisons.ts';

/** The limit of an identity `logits<=X`; null for any other identity. */
export const logitsLimit = (identity: string): number | null => (identity.startsWith('logits<=') ? Number(identity.slice('logits<='.length)) : null);

/**
 * The first legs of both arms of every comparison and case: an arm's own legs have one digest, or there is no verdict.
 * @param legs of one job, in order.
 */
export function rowsToCompare(legs: readonly PlannedLeg[], comparisons: readonly Comparison[]): RowsPair[] {
  const first = new Map<string, number>();
  for (const leg of legs) if (!first.has(`${leg.arm} ${leg.case}`)) first.set(`${leg.arm} ${leg.case}`, leg.index);
  return [...new Set(legs.map((leg) => leg.case))].flatMap((name) =>
    comparisons.flatMap(({ baseline, candidate }) => {
      const [baselineLeg, candidateLeg] = [first.get(`${baseline} ${name}`), first.get(`${candidate} ${name}`)];
      return baselineLeg === undefined || candidateLeg === undefined ? [] : [{ baselineLeg, candidateLeg }];
    }),
  );
}

/** A leg as far as its rows are concerned. */
interface RowsLeg {
  readonly index: number;
  readonly decode: { readonly digest: string; readonly steps: number };
  readonly measure?: { readonly rows?: readonly RowsComparison[] | undefined };
}

export type RowsFinding = { readonly status: Identity['status']; readonly note: string; readonly logits?: NonNullable<Identity['logits']> };

/**
 * What the agent's comparison of two arms' rows says to a limit. The figures are the agent's word: what ties them to the legs is that each
 * file has the SHA-256 that its leg's record gives as its digest.
 */
export function judgeRows(baseline: readonly RowsLeg[], candidate: readonly RowsLeg[], limit: number): RowsFinding {
  const indices = (legs: readonly RowsLeg[]): ReadonlySet<number> => new Set(legs.map((leg) => leg.index));
  const [left, right] = [indices(baseline), indices(candidate)];
  const compared = [...baseline, ...candidate]
    .flatMap((leg) => leg.measure?.rows ?? [])
    .filter((item) => left.has(item.baselineLeg) && right.has(item.candidateLeg));
  const rows = compared.find((item) => item.maxAbsDifference !== null) ?? compared[0];
  if (rows === undefined) return { status: 'not-comparable', note: `the sealed rule is logits<=${limit}, and no logits rows of these legs were compared` };
  const { baselineLeg, candidateLeg, maxAbsDifference, atStep, firstDifferingStep, marginThere, idsEqual } = rows;
  if (maxAbsDifference === null || atStep === null || idsEqual === null)
    return { status: 'not-comparable', note: `the rows of legs ${baselineLeg} and ${candidateLeg} could not be compared: ${rows.note}` };
  if (rows.baselineSha256 !== baseline[0]!.decode.digest || rows.candidateSha256 !== candidate[0]!.decode.digest || rows.rows !== baseline[0]!.decode.steps)
    return { status: 'not-comparable', note: `the rows of legs ${baselineLeg} and ${candidateLeg} that were compared are not those of their digests` };
  const logits = { attested: 'agent' as const, limit, baselineLeg, candidateLeg, maxAbsDifference, atStep, firstDifferingStep, marginThere, idsEqual };
  const where = firstDifferingStep === null ? '' : `; they differ from step ${firstDifferingStep}, where the top-1 margin is ${figure(marginThere ?? 0)}`;
  const said = `largest logit difference ${figure(maxAbsDifference)}, at step ${atStep}, against a limit of ${figure(limit)}${where} (agent-attested)`;
  if (!idsEqual) return { status: 'differs', note: `the rows choose other ids; ${said}`, logits };
  return maxAbsDifference <= limit ? { status: 'same', note: `equal ids, ${said}`, logits } : { status: 'differs', note: said, logits };
}

const figure = (value: number): string => String(Number(value.toPrecision(3)));
