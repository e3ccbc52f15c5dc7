/** What was measured of what was asked for: the cells of one job. */
import type { JobView, RunView } from '../protocol/run.ts';

type Cell = RunView['coverage'][number];

/**
 * One cell per arm that takes part in the job.
 * @param job.arms positions in `labels`, the run's arms as written; `notComparable` says why cases are shown and not judged.
 */
export function coverageOf(
  job: Pick<JobView, 'device' | 'suite' | 'state' | 'note'> & {
    readonly arms: readonly number[];
    readonly notComparable: readonly { readonly arm: number; readonly case: string; readonly note: string }[];
  },
  labels: readonly string[],
): Cell[] {
  return job.arms.map((position) => {
    const cell = { device: job.device, suite: job.suite, arm: labels[position]! };
    const excluded = [...new Set(job.notComparable.filter((item) => position === 0 || item.arm === position).map((item) => item.case))];
    const note = excluded.length === 0 ? '' : `not comparable: ${excluded.join(', ')}`;
    if (job.state === 'judged') return { ...cell, status: 'measured', note };
    if (job.state === 'failed') return { ...cell, status: 'not-run', note: job.note };
    return { ...cell, status: 'pending', note: job.note };
  });
}

/** Why a merge base has no cell in a timed suite. */
export const MERGE_BASE_NOT_TIMED = 'the merge base is not timed: it tells what failed before';

/** Why a cell was left out by the submitter's own choice, as `select-work` writes it. */
const NOT_ASKED: ReadonlySet<string> = new Set(['suite not asked for', 'case not asked for', 'device not asked for', MERGE_BASE_NOT_TIMED]);

/**
 * Cells as they are shown: an arm whose verdicts are void has legs and nothing that was measured, and what was not asked for is no gap.
 * @param jobs the run's, with their verdicts.
 */
export function shownCoverage(cells: readonly Cell[], jobs: readonly Pick<JobView, 'device' | 'suite' | 'verdicts'>[]): Cell[] {
  return cells.map((cell) => {
    if (cell.status === 'not-run' && NOT_ASKED.has(cell.note)) return { ...cell, status: 'not-asked' };
    if (cell.status !== 'measured') return cell;
    const verdicts = jobs.find((job) => job.device === cell.device && job.suite === cell.suite)?.verdicts ?? [];
    const own = verdicts.filter((verdict) => verdict.candidate === cell.arm);
    // The baseline, and every arm of a stack, takes part in all of them.
    const concerned = own.length > 0 ? own : verdicts;
    const isVoid = concerned.length > 0 && concerned.every((verdict) => verdict.verdict === 'void');
    return isVoid ? { ...cell, status: 'void', note: concerned[0]!.reason } : cell;
  });
}
