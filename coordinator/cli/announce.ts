/** What a command prints about a run that it just made: the seal, the id and URL, and with `--wait` the verdicts. */
import type { SubmitResponse } from '../protocol/run.ts';
import type { ApiClient } from './api-client.ts';
import { detachOnInterrupt, followRun } from './follow.ts';
import { plain, print, printJson, progress } from './output.ts';
import { printResult, runResult } from './run-result.ts';

export interface AnnounceFlags {
  readonly json?: boolean;
  readonly wait?: boolean;
  readonly timeout?: number;
}

/** Sets the exit status when it waits. */
export async function announceRun(client: ApiClient, submitted: SubmitResponse, flags: AnnounceFlags): Promise<void> {
  const { sealed } = submitted;
  if (sealed !== undefined) {
    progress(`rule: ${plain(sealed.rule)}${sealed.forecast === null ? '' : `; forecast: ${plain(sealed.forecast)}`}`);
    progress(`sealed ${sealed.at} as ${sealed.sha256}`);
  }
  const announce = `${submitted.run}  ${submitted.url}`;
  if (!flags.wait) return flags.json ? printJson({ schema: 1, ...submitted }) : print(announce);

  // With --json, stdout holds one object: the result.
  if (flags.json) progress(announce);
  else print(announce);
  detachOnInterrupt(submitted.run);
  const result = runResult(await followRun(client, submitted.run, { timeoutS: flags.timeout }));
  if (flags.json) printJson(result);
  else printResult(result);
  process.exitCode = result.exit;
}
