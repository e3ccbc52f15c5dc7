/** Names of figures, where more than one room needs them; all of them stand in core/figures.ts. */
import type { RunView } from './run.ts';

/** The name of a verdict's figures, up to the slash: `b60/decode#1`. @param at index among the job's verdicts. */
export const verdictName = (job: { readonly device: string; readonly suite: string }, at: number): string => `${job.device}/${job.suite}#${at + 1}`;

/** The name of a pair's figures, up to the slash. */
export const pairName = (verdict: string, name: string, pair: number): string => `${verdict}/${name}/pair-${pair}`;

/**
 * Numbers, from 1, of the view's corrections of these figures, or of any figure whose name starts with one of them and a slash.
 * Pairs of a run that this one adds to keep their names, so their corrections are found too.
 */
export function correctionsOf(view: Pick<RunView, 'corrections'>, ...names: readonly string[]): number[] {
  return (view.corrections ?? []).flatMap(({ figure }, at) => (names.some((name) => figure === name || figure.startsWith(`${name}/`)) ? [at + 1] : []));
}
