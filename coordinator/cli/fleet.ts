/** `fleet`: the table of commands, one file each. Started by fleet.mjs. */
import { Command, CommanderError } from 'commander';
import { FLEET_EXIT } from '../protocol/errors.ts';
import { registerAgent } from './agent.ts';
import { registerCalibrate } from './calibrate.ts';
import { CliError, errorLine } from './cli-error.ts';
import { registerCorrect } from './correct.ts';
import { registerDemo } from './demo.ts';
import { registerDevices } from './devices.ts';
import { registerEngine } from './engine.ts';
import { registerForecasts } from './forecasts.ts';
import { registerImport } from './import.ts';
import { progress } from './output.ts';
import { registerPairs } from './pairs.ts';
import { registerReceipt } from './receipt.ts';
import { registerReport } from './report.ts';
import { registerStatus } from './status.ts';
import { registerSubmit } from './submit.ts';
import { registerUp } from './up.ts';
import { registerVerify } from './verify.ts';
import { nameOwnHelp } from './usage-error.ts';
import { registerWatch } from './watch.ts';

const program = new Command('fleet')
  .description('compares git heads on every GPU box: the same output, the same contract, and which is faster')
  // `engine` passes options through, which needs commander to tell fleet's options from a command's.
  .enablePositionalOptions()
  .exitOverride()
  .addHelpText(
    'after',
    `
Exit status: 0 same, fixed, pre-existing, rule met; 1 output differs, new failure, rule not met; 2 wrong use;
3 void, not run, undecided; 4 no access; 5 something is not there or broke; 124 time-out; 130 interrupted.`,
  );
for (const register of [
  registerDemo,
  registerSubmit,
  registerWatch,
  registerStatus,
  registerReport,
  registerReceipt,
  registerVerify,
  registerCorrect,
  registerImport,
  registerPairs,
  registerCalibrate,
  registerForecasts,
  registerDevices,
  registerUp,
  registerAgent,
  registerEngine,
])
  register(program);
nameOwnHelp(program, 'fleet');

// A reader that had enough (`fleet status | head -1`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(FLEET_EXIT.ok);
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Help ends with 0; every mistake in the command line is wrong use.
    process.exitCode = error.exitCode === 0 ? FLEET_EXIT.ok : FLEET_EXIT.usage;
  } else {
    progress(errorLine(error));
    process.exitCode = error instanceof CliError ? error.exitCode : FLEET_EXIT.infrastructure;
  }
}
