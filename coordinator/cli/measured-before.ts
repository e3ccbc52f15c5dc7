/** What `fleet submit` says, instead of queueing, where all that it asks for was measured before. */
import { worstExit } from '../core/exit.ts';
import type { MeasuredBefore, MeasuredReply } from '../protocol/measured.ts';
import type { SubmitRequest } from '../protocol/run.ts';
import { plain, print, printJson, progress, table } from './output.ts';

export interface MeasuredFlags {
  readonly json?: boolean;
  readonly wait?: boolean;
}

/**
 * Where all was measured before: prints it and sets the exit status, with `--wait` that of the verdicts, 3 where they answer another question
 * (rule or number of pairs), else 0. Where only a part was, a note on stderr says which.
 */
export function offerMeasured({ measured, missing }: MeasuredReply, request: SubmitRequest, flags: MeasuredFlags): void {
  if (missing.length > 0) {
    for (const cell of measured)
      progress(`note: ${cell.device}/${cell.suite} was measured before, in run ${cell.run} of ${cell.at}, and is measured again with the rest`);
    return;
  }
  const exit = exitOf(measured);
  if (flags.json) printJson({ schema: 1, queued: false, measured, exit });
  else
    print(
      table(
        ['run', 'device', 'suite', 'candidate', 'verdict', 'measured', 'page'],
        measured.flatMap(({ run, device, suite, verdicts, at, url }) =>
          verdicts.map(({ candidate, verdict }) => [run, device, suite, candidate, verdict, at, url]),
        ),
      ),
    );
  for (const { device, suite, unanswered } of measured) if (unanswered !== null) progress(`note: ${device}/${suite}: ${plain(unanswered)}`);
  if (request.forecast !== undefined) progress('note: the forecast was not sealed: these results were there before it');
  progress('the same trees, settings, suites and devices were measured before; nothing was queued. next: add --again to measure them anew');
  if (flags.wait) process.exitCode = exit;
}

function exitOf(measured: readonly MeasuredBefore[]): 0 | 1 | 3 {
  return worstExit(measured.flatMap(({ verdicts, unanswered }) => (unanswered === null ? verdicts.map(({ verdict }) => verdict) : ['undecided' as const])));
}
