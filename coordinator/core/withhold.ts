/** A gain is no gain where the kernels are wrong: a contract failure withholds the gains of its device and candidate. */
import type { Verdict, VerdictWord } from '../protocol/verdict.ts';

/** A contract with one of these words does not vouch for the candidate's kernels. */
export const FAILING: ReadonlySet<VerdictWord> = new Set(['new-failure', 'pre-existing', 'output-differs']);

/**
 * Applies the contract verdicts of a run to its other verdicts. Called with all verdicts of the run, whenever one more is
 * in (the two jobs of a device are judged at different times); the verdicts as judged are what is stored, this is what is
 * shown and decides the exit status. Idempotent. A contract verdict is one that has contract rows.
 *
 * Where the contract of the same device and candidate failed, effects and the forecasts scored on them are emptied, and `rule-met`, `rule-not-met` and
 * `undecided` become `undecided` with the reason. Other words stay: they are not about gains.
 */
export function withholdGains(verdicts: readonly Verdict[]): Verdict[] {
  const failed = verdicts.filter((verdict) => verdict.contract.length > 0 && FAILING.has(verdict.verdict));
  return verdicts.map((verdict) => {
    if (verdict.contract.length > 0 || verdict.effects.length === 0) return verdict;
    const contract = failed.find((other) => other.device === verdict.device && other.candidate === verdict.candidate);
    if (contract === undefined) return verdict;
    return {
      ...verdict,
      verdict: 'undecided',
      effects: [],
      ...(verdict.forecasts === undefined ? {} : { forecasts: [] }),
      reason: `Gain withheld: on this device the candidate's suite ${contract.suite} is ${contract.verdict}.`,
    };
  });
}
