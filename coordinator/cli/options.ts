/** Options that several commands share, and how their words are read. */
import { InvalidArgumentError, type Command } from 'commander';
import type { z } from 'zod';
import { runId } from '../protocol/ids.ts';
import { ApiClient } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { readConfig, type Config } from './config.ts';

/** Flags of every command that talks to the coordinator. */
export interface ServiceFlags {
  url?: string;
  state?: string;
  json?: boolean;
}

/** Adds `--url`, `--state` and `--json`. */
export function withService(command: Command): Command {
  return command
    .option('--url <url>', 'the coordinator (FLEET_URL; fleet.toml: url)')
    .option('--state <dir>', 'state directory of a coordinator on this machine (FLEET_STATE; fleet.toml: state)')
    .option('--json', 'print JSON on stdout');
}

/** The configuration of a command started here. @throws CliError for a broken fleet.toml */
export function configOf(flags: ServiceFlags): Config {
  return readConfig(flags, process.cwd(), process.env);
}

/**
 * A client of the configured coordinator.
 * @throws CliError (exit 5) where a state directory was named and none runs in it: whoever listens at the default address is another fleet.
 */
export function clientOf(flags: ServiceFlags): ApiClient {
  const config = configOf(flags);
  const { state, url } = config;
  if (url.from === 'default' && state.from !== 'default')
    throw new CliError(`no coordinator runs in ${state.value} (${state.from})`, `fleet up --state ${state.value}, or name another with --url`, 5);
  return new ApiClient(config);
}

/** Reads a whole number within bounds; commander turns the refusal into its own one-line error. */
export function integer(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < low || value > high) throw new InvalidArgumentError(`expected a whole number from ${low} to ${high}`);
    return value;
  };
}

/** Reads a run id. @throws CliError where it cannot be one, so that the coordinator is not asked. */
export function runArgument(text: string): string {
  if (!runId.safeParse(text).success) throw new CliError(`'${text}' is no run id, such as r3k9x0c2wqz`, 'fleet status lists the runs');
  return text;
}

/** Reads a comma-separated list of names that each have a form. @throws CliError with the form, for the first that has another. */
export function namesOf(flag: string, form: z.ZodType<string>, command = 'submit'): (text: string) => string[] {
  return (text) => {
    const list = names(text);
    for (const name of list) {
      const read = form.safeParse(name);
      if (!read.success) throw new CliError(`${flag} ${name}: ${read.error.issues[0]!.message}`, `fleet ${command} --help`);
    }
    return list;
  };
}

/** Reads a comma-separated list of names. */
export function names(text: string): string[] {
  const list = text.split(',').map((name) => name.trim());
  if (list.includes('')) throw new InvalidArgumentError('expected names with commas between them');
  return list;
}
