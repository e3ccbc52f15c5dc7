/**
 * The whole environment of a process that runs a head's code. Nothing of the agent's own environment is passed on but what is
 * named here: no token, no Redis URL, no home.
 */
import { delimiter, dirname } from 'node:path';

export interface ScratchFolders {
  home: string;
  tmp: string;
}

/** Variables that let a driver or the engine find itself; copied when the agent has them. */
const DRIVER_VARIABLES = ['LD_LIBRARY_PATH', 'FLEET_DRIVERS', 'DYLD_LIBRARY_PATH'] as const;

/**
 * @param driverFiles the adapter's VK_DRIVER_FILES, null for the loader's default (then the agent's own, if set).
 * @param source the agent's environment.
 */
export function headEnvironment(folders: ScratchFolders, driverFiles: string | null, source: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const env: Record<string, string> = {
    // The agent's own node first, so that `node` in a manifest is the version that dependencies were built for.
    PATH: `${dirname(process.execPath)}${delimiter}${source['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'}`,
    HOME: folders.home,
    TMPDIR: folders.tmp,
    LANG: 'C.UTF-8',
    XDG_RUNTIME_DIR: folders.tmp,
  };
  const drivers = driverFiles ?? source['VK_DRIVER_FILES'];
  if (drivers !== undefined) env['VK_DRIVER_FILES'] = drivers;
  for (const name of DRIVER_VARIABLES) {
    const value = source[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
