import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Option, type Command } from 'commander';
import { ArmSyntaxError, parseArm, type Arm } from '../core/arms.ts';
import { calibrationList, type CalibrateRequest } from '../protocol/calibration.ts';
import { casePath, deviceName, suiteName } from '../protocol/ids.ts';
import { submitResponse } from '../protocol/run.ts';
import { announceRun } from './announce.ts';
import { calibrationTable } from './calibration-table.ts';
import { CliError } from './cli-error.ts';
import { clientOf, integer, namesOf, withService, type ServiceFlags } from './options.ts';
import { print, printJson } from './output.ts';
import { openRepository } from './repository.ts';
import { sendArms } from './submit-run.ts';

interface CalibrateFlags extends ServiceFlags {
  device?: string;
  head: Arm;
  suites?: string[];
  cases?: string[];
  pairs: number;
  seed?: number;
  allowSoftware?: boolean;
  repo: string;
  list?: boolean;
  wait?: boolean;
  timeout?: number;
}

/** `fleet calibrate --device D`: a head against itself, for the device's noise floor and false-verdict rate; `--list`: those there are. */
export function registerCalibrate(program: Command): void {
  const command = program
    .command('calibrate')
    .description('run a head against itself on a device: its A/A noise floor and how often the rule is met by no change')
    .option('--device <name>', 'the device', name)
    .option('--list', 'print the calibrations that there are, newest first, and what speaks against each')
    .addOption(
      new Option('--head <arm>', 'the head, with settings if need be').argParser(readArm).default({ label: 'HEAD', ref: 'HEAD', settings: {} }, 'HEAD'),
    )
    .option('--suites <names>', 'timed suites of fleet.json (default: all)', namesOf('--suites', suiteName, 'calibrate'))
    .option('--cases <names>', 'SUITE/CASE names; a suite named here runs only these of its cases', namesOf('--cases', casePath, 'calibrate'))
    .option('--pairs <n>', 'pairs of legs a case; 20 hold six series of three', integer(3, 500), 20)
    .option('--seed <n>', 'which arm of each two pairs runs first; sealed (default: 0)', integer(0, 2_147_483_647))
    .option('--allow-software', 'let the device be a software one; never GPU evidence')
    .option('--repo <dir>', 'the repository', '.')
    .option('--wait', 'wait for the figures; exit 0 once every case has them, else 3')
    .option('--timeout <seconds>', 'with --wait: give up waiting, exit 124', integer(1, 31_536_000));
  withService(command).action(async (flags: CalibrateFlags) => {
    const client = clientOf(flags);
    if (flags.list) {
      const { calibrations } = await client.get('/api/calibrations', calibrationList);
      const shown = calibrations.filter((item) => flags.device === undefined || item.device === flags.device);
      if (flags.json) printJson({ schema: 1, calibrations: shown });
      else print(shown.length === 0 ? `no A/A calibration yet. next: fleet calibrate --device ${flags.device ?? 'NAME'}` : calibrationTable(shown));
      return;
    }
    if (flags.device === undefined)
      throw new CliError('--device is missing: a calibration is of one device', 'fleet devices lists them; fleet calibrate --device NAME');
    const { arms } = await sendArms(client, openRepository(path.resolve(flags.repo)), [flags.head]);
    const request: CalibrateRequest = {
      arm: arms[0]!,
      device: flags.device,
      ...(flags.suites === undefined ? {} : { suites: flags.suites }),
      ...(flags.cases === undefined ? {} : { cases: flags.cases }),
      pairs: flags.pairs,
      ...(flags.seed === undefined ? {} : { seed: flags.seed }),
      allowSoftware: flags.allowSoftware ?? false,
      key: randomUUID(),
    };
    await announceRun(client, await client.post('/api/calibrations', request, submitResponse), flags);
  });
}

/** @throws CliError with the form of a device's name. */
function name(text: string): string {
  const read = deviceName.safeParse(text);
  if (!read.success) throw new CliError(`--device ${text}: ${read.error.issues[0]!.message}`, 'fleet devices lists them');
  return text;
}

/** @throws CliError naming the column. */
function readArm(text: string): Arm {
  try {
    return parseArm(text);
  } catch (error) {
    if (!(error instanceof ArmSyntaxError)) throw error;
    throw new CliError(`--head, ${error.message.split('\n', 1)[0]}`, 'fleet calibrate --device NAME --head HEAD', 2, { cause: error });
  }
}
