import path from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { parseForecast } from '../core/forecast.ts';
import { parseRule } from '../core/rule.ts';
import { TextSyntaxError } from '../core/scanner.ts';
import { deviceView } from '../protocol/agent.ts';
import { casePath, deviceName, suiteName } from '../protocol/ids.ts';
import { measuredReply } from '../protocol/measured.ts';
import { DEFAULT_RULE, submitResponse } from '../protocol/run.ts';
import { announceRun } from './announce.ts';
import { CliError } from './cli-error.ts';
import { offerMeasured } from './measured-before.ts';
import { clientOf, integer, names, namesOf, withService, type ServiceFlags } from './options.ts';
import { progress } from './output.ts';
import { checkedOut, openRepository, resolveArms, treeOf, uncommittedFiles } from './repository.ts';
import { submitNotes } from './submit-notes.ts';
import { readHeads, readySubmission } from './submit-run.ts';

interface SubmitFlags extends ServiceFlags {
  heads?: string;
  stack?: string;
  merge?: string[];
  withMergeBase?: boolean;
  suites?: string[];
  cases?: string[];
  devices?: string[];
  pairs: number;
  seed?: number;
  rule?: string;
  forecast?: string;
  allowSoftware?: boolean;
  again?: boolean;
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
    .option('--stack <arms>', 'instead of --heads: each arm against the one before it, and the last against the first, in one series')
    .option('--merge <heads>', 'add the merge of these heads as one more arm: --heads main,a,b --merge a,b', names)
    .option('--with-merge-base', 'measure the merge base of the heads too, where nothing is timed: a failure of both heads is pre-existing only if it fails')
    .option('--suites <names>', 'suites of fleet.json (default: all)', namesOf('--suites', suiteName))
    .option('--cases <names>', 'SUITE/CASE names; a suite named here runs only these of its cases', namesOf('--cases', casePath))
    .option('--devices <names>', 'devices (default: every one that an agent serves now)', namesOf('--devices', deviceName))
    .option('--pairs <n>', 'pairs of legs a case', integer(1, 500), 3)
    .option('--seed <n>', 'which arm of each two pairs runs first; sealed (default: 0, old,new,new,old,old,new)', integer(0, 2_147_483_647))
    .option('--rule <text>', `what decides, sealed before anything runs (default: ${DEFAULT_RULE.text})`, grammar('--rule', parseRule))
    .option(
      '--forecast <text>',
      'the median gain you expect, sealed too and scored: "unicode: 15% to 35% (80%); 5% to 15%"',
      grammar('--forecast', parseForecast),
    )
    .option('--allow-software', 'let software devices take part; never GPU evidence')
    .option('--again', 'measure although the same trees, settings, suites and devices were measured before')
    .option('--repo <dir>', 'the repository', '.')
    .option('--wait', 'wait for the verdicts and exit with the worst: 0, 1 or 3')
    .option('--timeout <seconds>', 'with --wait: give up waiting, exit 124', integer(1, 31_536_000));
  command.addHelpText('after', GRAMMAR);
  withService(command).action(async (flags: SubmitFlags) => {
    if (flags.heads !== undefined && flags.stack !== undefined)
      throw new CliError('--heads and --stack are both given, and a run has one list of arms', 'fleet submit --stack main,a,b');
    const list = flags.stack ?? flags.heads;
    if (list === undefined) throw new CliError('--heads is missing: it names the arms to compare', 'fleet submit --heads main,HEAD');
    const arms = readHeads(list);
    const client = clientOf(flags);
    const repository = openRepository(path.resolve(flags.repo));
    if (flags.merge?.length === 1)
      throw new CliError(`--merge names one head, '${flags.merge[0]}', and a merge needs two`, 'fleet submit --heads main,a,b --merge a,b');
    const options = {
      ...(flags.suites === undefined ? {} : { suites: flags.suites }),
      ...(flags.cases === undefined ? {} : { cases: flags.cases }),
      ...(flags.devices === undefined ? {} : { devices: flags.devices }),
      pairs: flags.pairs,
      ...(flags.stack === undefined ? {} : { stack: true }),
      ...(flags.seed === undefined ? {} : { seed: flags.seed }),
      ...(flags.rule === undefined ? {} : { rule: flags.rule }),
      ...(flags.forecast === undefined ? {} : { forecast: flags.forecast }),
      allowSoftware: flags.allowSoftware ?? false,
    };
    const request = await readySubmission(client, repository, arms, options, { merge: flags.merge, mergeBase: flags.withMergeBase });
    const before = flags.again ? null : await client.post('/api/runs/measured', request, measuredReply);
    const submitted = before?.missing.length === 0 ? null : await client.post('/api/runs', request, submitResponse);
    const notes = submitNotes({
      arms: resolveArms(repository, arms).map((arm) => ({ ...arm, tree: treeOf(repository, arm.head) })),
      checkedOut: checkedOut(repository),
      edits: uncommittedFiles(repository),
      devices: await client.get('/api/devices', z.array(deviceView)),
      named: flags.devices !== undefined,
    });
    if (request.mergeBase === 0) progress('note: the baseline is the merge base of the heads: what fails in it was there before');
    for (const note of notes) progress(`note: ${note}`);
    if (before !== null) offerMeasured(before, request, flags);
    if (submitted !== null) await announceRun(client, submitted, flags);
  });
}

const GRAMMAR = `
--rule: parts joined by "and". A part is
  identity exact | ids | differ | logits <= X    what counts as the same output (default: exact)
  median | estimate | low  >= | > | <= | <  N%   of the pairs' gains: median, Hodges-Lehmann estimate, low end of its interval;
                                                 "floor" instead of N% is the device's A/A floor
  every pair > N%     p <= N (sign-flip test)     pairs >= N
--forecast: ranges with ";" between them: [CASE][@DEVICE][#CANDIDATE]: N% to N% (HOW SURE%), all but the range optional.
`;

/** Checks a text of a grammar while the command line is read; the text itself is what is sent. @throws CliError with a caret. */
function grammar(flag: string, parse: (text: string) => unknown): (text: string) => string {
  return (text) => {
    try {
      parse(text);
    } catch (error) {
      if (!(error instanceof TextSyntaxError)) throw error;
      throw new CliError(`${flag}, ${error.message}`, 'fleet submit --help', undefined, { cause: error, pointer: error.pointer });
    }
    return text;
  };
}
