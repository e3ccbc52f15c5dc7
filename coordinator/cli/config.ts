/**
 * Where the coordinator is. Precedence: flag, then `FLEET_URL` / `FLEET_STATE`, then the nearest `fleet.toml` (from the working
 * directory upward), then the running service's own `STATE/server.json`, then the default.
 */
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { DEFAULT_PORT } from '../protocol/api.ts';
import { CliError } from './cli-error.ts';

const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`;

/** `fleet.toml`: data only, both keys optional. A relative `state` counts from the file's own folder. */
export const fleetToml = z.strictObject({
  /** The coordinator's address, such as http://127.0.0.1:7420. */
  url: z.url({ protocol: /^https?$/ }).optional(),
  /** The state directory of a coordinator on this machine. */
  state: z.string().min(1).optional(),
});

/** `STATE/server.json`, written by a running coordinator. */
const serverFile = z.object({ url: z.url(), pid: z.int() });

/** A value and what it came from, for messages. */
export interface Setting {
  readonly value: string;
  readonly from: string;
}
export interface Config {
  readonly url: Setting;
  readonly state: Setting;
}
/** What the command line gave. */
export interface ConfigFlags {
  readonly url?: string | undefined;
  readonly state?: string | undefined;
}

/**
 * Resolves the configuration.
 * @throws CliError (exit 2) for a `fleet.toml` that cannot be read, or an address that is no http(s) URL.
 */
export function readConfig(flags: ConfigFlags, cwd: string, env: NodeJS.ProcessEnv): Config {
  const file = findUpward(cwd, 'fleet.toml');
  const toml = file === null ? {} : readToml(file);
  const state = firstOf(
    [flags.state && path.resolve(cwd, flags.state), '--state'],
    [env['FLEET_STATE'] && path.resolve(cwd, env['FLEET_STATE']), 'FLEET_STATE'],
    [toml.state && path.resolve(path.dirname(file ?? cwd), toml.state), file ?? ''],
  ) ?? { value: path.join(env['XDG_STATE_HOME'] || path.join(env['HOME'] || os.homedir(), '.local/state'), 'fleet'), from: 'default' };
  const running = readServerFile(state.value);
  const url = firstOf([flags.url, '--url'], [env['FLEET_URL'], 'FLEET_URL'], [toml.url, file ?? ''], [running?.url, path.join(state.value, 'server.json')]) ?? {
    value: DEFAULT_URL,
    from: 'default',
  };
  if (!/^https?:$/.test(protocolOf(url.value))) {
    throw new CliError(`'${url.value}' (${url.from}) is no http or https address`, `give one such as ${DEFAULT_URL}`);
  }
  return { url: { ...url, value: url.value.replace(/\/+$/, '') }, state };
}

/** The service that says it runs in a state directory; null where none does, or where its process is gone. */
export function readServerFile(state: string): z.infer<typeof serverFile> | null {
  let server;
  try {
    server = serverFile.parse(JSON.parse(readFileSync(path.join(state, 'server.json'), 'utf8')));
  } catch {
    return null;
  }
  try {
    process.kill(server.pid, 0);
    return server;
  } catch (error) {
    // EPERM: the process is there and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM' ? server : null;
  }
}

function firstOf(...candidates: readonly (readonly [string | undefined, string])[]): Setting | undefined {
  const found = candidates.find(([value]) => value !== undefined && value !== '');
  return found?.[0] === undefined ? undefined : { value: found[0], from: found[1] };
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

function findUpward(from: string, name: string): string | null {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const file = path.join(folder, name);
    if (existsSync(file)) return file;
    if (folder === path.dirname(folder)) return null;
  }
}

function readToml(file: string): z.infer<typeof fleetToml> {
  let value: unknown;
  try {
    value = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new CliError(`${file} cannot be read: ${firstLine(cause)}`, `correct ${file} (keys: url, state)`, 2, { cause });
  }
  const parsed = fleetToml.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new CliError(`${file}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}`, `correct ${file} (keys: url, state)`);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
