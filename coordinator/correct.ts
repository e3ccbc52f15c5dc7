/** Appends a correction to a figure of a run. Nothing stored is changed. */
import { addCorrection, listCorrections } from '../db/queries/corrections.ts';
import { addEvent } from '../db/queries/events.ts';
import type { Queries, Store } from '../db/open.ts';
import { figuresOf } from './core/figures.ts';
import type { Log } from './events.ts';
import type { RunView } from './protocol/run.ts';
import { Refusal } from './refusal.ts';

/** @throws Refusal bad-request when the run has no figure of this name. */
export function correct(store: Store, log: Log, view: RunView, figure: string, text: string): void {
  if (!figuresOf(view).some((item) => item.name === figure))
    throw new Refusal('bad-request', `run ${view.run} has no figure ${figure}`, `see their names: fleet correct ${view.run} --list`);
  const at = new Date().toISOString();
  store.transaction((tx) => {
    addCorrection(tx, { run: view.run, figure, text, at });
    addEvent(tx, { at, name: 'figure.corrected', run: view.run, job: null, fields: { figure } });
  });
  log.event('figure.corrected', { run: view.run, figure });
}

/** A run's corrections, oldest first, after those of pairs of the runs that it adds to. */
export function correctionsIn(queries: Queries, run: string, earlier: readonly string[]): NonNullable<RunView['corrections']> {
  const of = (id: string): NonNullable<RunView['corrections']> => listCorrections(queries, id).map(({ figure, text, at }) => ({ figure, text, run: id, at }));
  return [...earlier.flatMap(of).filter(({ figure }) => figure.includes('/pair-')), ...of(run)];
}
