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
