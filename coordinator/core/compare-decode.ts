/** Output identity of one decode case: do all legs of each arm agree, are the pinned ids met, and do the arms agree? */
import type { DecodeRecord } from '../../engine/protocol.ts';
import type { RowsComparison, Rule } from '../protocol/run.ts';
import type { Identity } from '../protocol/verdict.ts';
import { judgeRows, logitsLimit } from './logits-rows.ts';

/** A leg's decode, with the leg's place in the order. */
export interface DecodedLeg {
  readonly index: number;
  readonly decode: DecodeRecord;
  /** Comparisons of logits rows that the agent made once this leg was in. */
  readonly measure?: { readonly rows?: readonly RowsComparison[] | undefined };
}

/**
 * Compares one case as the sealed identity asks: `exact` (digests), `ids`, `differ` (the arms must differ) or `logits<=X`.
 * `status` is `same` when the sealed identity holds, so under `differ` it is `same` for outputs that differ.
 * @param baseline at least one leg; `candidate` too.
 */
export function compareDecode(name: string, baseline: readonly DecodedLeg[], candidate: readonly DecodedLeg[], identity: Rule['identity']): Identity {
  const left = baseline[0]!;
  const right = candidate[0]!;
  const pins = [...baseline, ...candidate].map((leg) => leg.decode.pinnedIdsMatch);
  const pinnedIdsMatch = pins.includes(false) ? false : pins.every((pin) => pin === true) ? true : null;
  const step = firstDifferingStep(left.decode, right.decode);
  const result = (status: Identity['status'], note: string, firstStep = step): Identity => ({
    case: name,
    status,
    baselineDigest: left.decode.digest,
    candidateDigest: right.decode.digest,
    pinnedIdsMatch,
    firstDifferingStep: firstStep,
    note,
  });

  const subject = differentSubject(left.decode, right.decode);
  if (subject !== null) return result('not-comparable', subject, null);
  for (const [arm, legs] of [
    ['baseline', baseline],
    ['candidate', candidate],
  ] as const) {
    const unlike = legs.find((leg) => leg.decode.digest !== legs[0]!.decode.digest);
    if (unlike !== undefined) {
      const at = firstDifferingStep(legs[0]!.decode, unlike.decode);
      return result(
        'differs',
        `the ${arm}'s own legs disagree: leg ${legs[0]!.index} against leg ${unlike.index}${at === null ? '' : `, first at step ${at}`}`,
        at,
      );
    }
    const unsteady = legs.find((leg) => !leg.decode.checksumsMatch);
    if (unsteady !== undefined) return result('differs', `the timed pass of leg ${unsteady.index} (${arm}) did not reproduce the logits of its first pass`);
  }
  const missed = [...baseline, ...candidate].filter((leg) => leg.decode.pinnedIdsMatch === false);
  if (missed.length > 0) {
    const both = missed.length === baseline.length + candidate.length;
    const arm = both ? 'both arms' : candidate.includes(missed[0]!) ? 'the candidate' : 'the baseline';
    return result('differs', `${arm} did not produce the pinned ids (${missed.length === 1 ? 'leg' : 'legs'} ${missed.map((leg) => leg.index).join(', ')})`);
  }

  const equal = left.decode.digest === right.decode.digest;
  const sameIds = equalIds(left.decode.ids, right.decode.ids);
  if (identity === 'differ')
    return equal
      ? result('differs', 'the sealed rule asks for outputs that differ, and they are equal')
      : result('same', 'the outputs differ, as the sealed rule asks');
  if (equal) {
    const steps = firstDifferingStep(left.decode, right.decode);
    if (sameIds && steps === null) return result('same', '');
    return result('differs', `the digests are equal and the ${sameIds ? `digests of step ${steps}` : 'ids'} are not: a record contradicts itself`);
  }
  if (identity === 'ids')
    return sameIds
      ? result('same', `equal ids; the logits differ from step ${step ?? 'unknown'}`)
      : result('differs', idsNote(left.decode.ids, right.decode.ids));
  const limit = logitsLimit(identity);
  if (limit !== null && sameIds) {
    const { status, note, logits } = judgeRows(baseline, candidate, limit);
    return { ...result(status, note), ...(logits === undefined ? {} : { logits }) };
  }
  return result('differs', sameIds ? 'the logits differ, the ids are equal' : idsNote(left.decode.ids, right.decode.ids));
}

/** The first step whose digest differs, counted from 0 (step 0 is the prompt's last position); null where none does. */
export function firstDifferingStep(a: DecodeRecord, b: DecodeRecord): number | null {
  const shared = Math.min(a.stepDigests.length, b.stepDigests.length);
  for (let step = 0; step < shared; step++) if (a.stepDigests[step] !== b.stepDigests[step]) return step;
  return a.stepDigests.length === b.stepDigests.length ? null : shared;
}

function differentSubject(a: DecodeRecord, b: DecodeRecord): string | null {
  if (a.model.sha256 !== b.model.sha256)
    return `the arms decoded different models: ${a.model.id} (${a.model.sha256.slice(0, 12)}) and ${b.model.id} (${b.model.sha256.slice(0, 12)})`;
  if (a.prompt.sha256 !== b.prompt.sha256) return `the arms decoded different prompts: ${a.prompt.tokens} and ${b.prompt.tokens} tokens`;
  if (a.steps !== b.steps) return `the arms decoded ${a.steps} and ${b.steps} steps`;
  return null;
}

function equalIds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

function idsNote(a: readonly number[], b: readonly number[]): string {
  const at = a.findIndex((id, i) => id !== b[i]);
  return at === -1 ? `${a.length} ids against ${b.length}` : `ids differ from id ${at}: ${a[at]} against ${b[at] ?? 'none'}`;
}
