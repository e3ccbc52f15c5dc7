import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { FLEET_EXIT } from '../protocol/errors.ts';
import type { RunView } from '../protocol/run.ts';
import { makeDirectory } from '../state-directory.ts';
import { CliError } from './cli-error.ts';
import { listDevices } from './demo/adapters.ts';
import { Children } from './demo/children.ts';
import { startAgents, startCoordinator } from './demo/service.ts';
import { followRun } from './follow.ts';
import { integer, names } from './options.ts';
import { print, printJson, progress } from './output.ts';
import { openRepository, resolveArms, uncommittedFiles } from './repository.ts';
import { FLEET_ROOT } from './rooms.ts';
import { printResult, runResult } from './run-result.ts';
import { readHeads, submitRun } from './submit-run.ts';

interface DemoFlags {
  heads: string;
  pairs: number;
  devices?: string[];
  repo: string;
  state?: string;
  json?: boolean;
  stay?: boolean;
  full?: boolean;
}

/**
 * What the demo runs of fleet's own suites: the contract group that the default arms' setting (qmm) belongs to, and two prompts. All of the
 * contract takes minutes an arm on a software driver, and the demo is to end in three.
 */
const SHORT_CASES = ['contract/projection', 'decode/story', 'decode/unicode'] as const;

/** `fleet demo`: everything that fleet does, on this machine alone, in one command. */
export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('start a coordinator and an agent for every adapter that opens, compare two arms of this checkout, stop everything')
    .option('--heads <arms>', 'arms of the repository, baseline first', 'HEAD[qmm=scalar],HEAD[qmm=vec4]')
    .option('--pairs <n>', 'pairs of decode legs a case', integer(1, 500), 3)
    .option('--devices <names>', 'only these of the adapters that open, such as swiftshader', names)
    .option('--repo <dir>', 'the repository', FLEET_ROOT)
    .option('--state <dir>', 'state directory (default: a new temporary one)')
    .option('--full', `every case of both suites, not only ${SHORT_CASES.join(', ')}`)
    .option('--stay', 'keep the page up until Ctrl-C')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      '\nExit status: 0 once every job has been judged, whatever the verdicts; 2 wrong use; 5 something is not there or broke; 130 interrupted.',
    )
    .action(async (flags: DemoFlags) => {
      process.exitCode = await demo(flags);
    });
}

/** @returns 0 once every job has been judged, else 5 */
async function demo(flags: DemoFlags): Promise<number> {
  // What can be wrong with the heads shows before anything is started.
  const arms = readHeads(flags.heads);
  const repository = openRepository(path.resolve(flags.repo));
  resolveArms(repository, arms);
  const edits = uncommittedFiles(repository);
  if (edits > 0)
    progress(
      `note: ${edits} uncommitted ${edits === 1 ? 'file' : 'files'} in ${repository.name}; ${arms.map((arm) => arm.label).join(' and ')} are measured, not the edits`,
    );

  const state = flags.state === undefined ? mkdtempSync(path.join(os.tmpdir(), 'fleet-demo-')) : path.resolve(flags.state);
  makeDirectory(state, '--state DIR');
  const interrupt = interruption();
  const children = new Children(path.join(state, 'logs'));
  let view: RunView | undefined;
  try {
    progress(flags.full ? 'every case of contract and decode; a software driver takes many minutes' : `about 3 minutes: ${SHORT_CASES.join(', ')}`);
    progress(`starting a coordinator (state: ${state})`);
    const [open, client] = await Promise.all([listDevices(), startCoordinator(children, state, interrupt.signal)]);
    progress(`adapters that open: ${open.map((entry) => `${entry.device} (${entry.evidence}: ${entry.adapter})`).join(', ')}`);
    const devices = open.filter((entry) => flags.devices?.includes(entry.device) ?? true);
    const absent = flags.devices?.filter((name) => !open.some((entry) => entry.device === name)) ?? [];
    if (absent.length > 0)
      throw new CliError(
        `no adapter called ${absent.join(', ')} opens here (there are: ${open.map((entry) => entry.device).join(', ')})`,
        'fleet engine devices --allow-software',
      );
    await startAgents(children, client, devices, state, interrupt.signal);
    const submitted = await submitRun(client, repository, arms, {
      suites: ['contract', 'decode'],
      ...(flags.full ? {} : { cases: [...SHORT_CASES] }),
      devices: devices.map((entry) => entry.device),
      pairs: flags.pairs,
      allowSoftware: true,
    });
    progress(`${submitted.run}  ${submitted.url}`);
    view = await followRun(client, submitted.run, { signal: interrupt.signal });

    const result = runResult(view);
    if (flags.json) printJson({ ...result, state });
    else printResult(result, flags.stay ? 'page' : 'page (while it was up)');
    if (flags.stay) {
      progress('the page stays up until Ctrl-C');
      await interrupt.happened;
    }
  } finally {
    await children.stop();
    interrupt.done();
    // Worktrees and installs are large and can be made again; the run, its page and the logs stay to be looked at.
    if (flags.state === undefined && view?.done) rmSync(path.join(state, 'agents'), { recursive: true, force: true });
  }
  if (!flags.json && !flags.stay)
    print(
      `everything is stopped; to see the page again: node ${path.join(FLEET_ROOT, 'coordinator/cli/fleet.mjs')} up --state ${state} --port ${new URL(view.url).port}`,
    );
  return view.jobs.every((job) => job.state === 'judged') ? FLEET_EXIT.ok : FLEET_EXIT.infrastructure;
}

interface Interruption {
  /** Aborted with the error to end with. */
  readonly signal: AbortSignal;
  readonly happened: Promise<void>;
  /** Gives the signals back. */
  done(): void;
}

/** The first Ctrl-C (or SIGTERM, SIGHUP) ends the demo in order; a second one ends it at once. */
function interruption(): Interruption {
  const controller = new AbortController();
  let happen: () => void;
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(FLEET_EXIT.interrupted);
    controller.abort(new CliError('interrupted; everything that the demo started is stopped', 'npm run demo starts over', FLEET_EXIT.interrupted));
    happen();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    happened,
    done() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
