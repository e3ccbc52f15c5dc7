import path from 'node:path';
import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import { detachOnInterrupt, followRun } from './follow.ts';
import { clientOf, integer, names, withService, type ServiceFlags } from './options.ts';
import { print, printJson, progress } from './output.ts';
import { openRepository } from './repository.ts';
import { printResult, runResult } from './run-result.ts';
import { readHeads, submitRun } from './submit-run.ts';

interface SubmitFlags extends ServiceFlags {
  heads?: string;
  suites?: string[];
  cases?: string[];
  devices?: string[];
  pairs: number;
  allowSoftware?: boolean;
  repo: string;
  wait?: boolean;
  timeout?: number;
}

/** `fleet submit`: a new run; with `--wait`, its verdicts and their exit status. */
export function registerSubmit(program: Command): void {
  const command = program
    .command('submit')
    .description('compare heads of the repository you are in; unpushed commits are fine')
    // Not `requiredOption`: commander would then report the missing option instead of a misspelt one.
    .option('--heads <arms>', 'arms with commas between them, baseline first: main,HEAD or "HEAD[qmm=scalar],HEAD[qmm=vec4]"')
    .option('--suites <names>', 'suites of fleet.json (default: all)', names)
    .option('--cases <names>', 'SUITE/CASE names; a suite named here runs only these of its cases', names)
    .option('--devices <names>', 'devices (default: every one that an agent serves now)', names)
    .option('--pairs <n>', 'pairs of legs a case', integer(1, 500), 3)
    .option('--allow-software', 'let software devices take part; never GPU evidence')
    .option('--repo <dir>', 'the repository', '.')
    .option('--wait', 'wait for the verdicts and exit with the worst: 0, 1 or 3')
    .option('--timeout <seconds>', 'with --wait: give up waiting, exit 124', integer(1, 31_536_000));
  withService(command).action(async (flags: SubmitFlags) => {
    if (flags.heads === undefined) throw new CliError('--heads is missing: it names the arms to compare', 'fleet submit --heads main,HEAD');
    const arms = readHeads(flags.heads);
    const client = clientOf(flags);
    const repository = openRepository(path.resolve(flags.repo));
    const submitted = await submitRun(client, repository, arms, {
      ...(flags.suites === undefined ? {} : { suites: flags.suites }),
      ...(flags.cases === undefined ? {} : { cases: flags.cases }),
      ...(flags.devices === undefined ? {} : { devices: flags.devices }),
      pairs: flags.pairs,
      allowSoftware: flags.allowSoftware ?? false,
    });
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
  });
}
