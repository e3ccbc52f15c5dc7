/**
 * The whole environment of a process that runs a head's code. Nothing of the agent's own environment is passed on but what is
 * named here: no token, no Redis URL, no home.
 */
import { delimiter, dirname } from 'node:path';
import { driverVariables, type AdapterRecord } from '../engine/protocol.ts';

export interface ScratchFolders {
  home: string;
  tmp: string;
  /** XDG_CACHE_HOME, where Mesa and NVIDIA keep compiled shaders; absent: under `home`. */
  cache?: string;
}

/** What a process needs to open the adapter that its agent serves. */
export type AdapterDrivers = Pick<AdapterRecord, 'driverFiles' | 'libraryPath'>;

/** Variables that let a driver or the engine find itself; copied when the agent has them. */
const DRIVER_VARIABLES = ['LD_LIBRARY_PATH', 'FLEET_DRIVERS', 'DYLD_LIBRARY_PATH'] as const;

/**
 * @param drivers the adapter's, whose `driverFiles` is null for the loader's default (then the agent's own, if set); null: no adapter is opened.
 * @param source the agent's environment.
 */
export function headEnvironment(folders: ScratchFolders, drivers: AdapterDrivers | null, source: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const env: Record<string, string> = {
    // The agent's own node first, so that `node` in a manifest is the version that dependencies were built for.
    PATH: `${dirname(process.execPath)}${delimiter}${source['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'}`,
    HOME: folders.home,
    TMPDIR: folders.tmp,
    LANG: 'C.UTF-8',
    XDG_RUNTIME_DIR: folders.tmp,
    // The adapter's name says how its driver was tuned: every head must find it under that name.
    ...driverVariables(source),
  };
  if (folders.cache !== undefined) env['XDG_CACHE_HOME'] = folders.cache;
  const driverFiles = drivers?.driverFiles ?? source['VK_DRIVER_FILES'];
  if (driverFiles !== undefined) env['VK_DRIVER_FILES'] = driverFiles;
  for (const name of DRIVER_VARIABLES) {
    const value = source[name];
    if (value !== undefined) env[name] = value;
  }
  if (drivers?.libraryPath !== undefined) env['LD_LIBRARY_PATH'] = drivers.libraryPath;
  return env;
}
