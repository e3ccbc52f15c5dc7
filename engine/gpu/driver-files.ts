/**
 * Where Vulkan drivers lie on this host. Linux only: elsewhere the platform's own drivers are the only ones, and the
 * loader's default is the one candidate.
 */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** An environment that adapters may open under. */
export interface DriverEnvironment {
  /** VK_DRIVER_FILES; null: the loader's default. */
  readonly driverFiles: string | null;
  /** What must change in the environment of a process to use it; undefined: left out. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Folder into which set-up unpacks drivers (coordinator/cli/setup/swiftshader.mjs has the same rule): $FLEET_DRIVERS, else `fleet/drivers` in the user's cache folder. */
export function driversFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env['FLEET_DRIVERS'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'fleet', 'drivers');
}

/** The unpacked SwiftShader's environment, or undefined when it is not unpacked. */
export function unpackedSoftwareDriver(env: NodeJS.ProcessEnv = process.env): DriverEnvironment | undefined {
  const folder = join(driversFolder(env), 'swiftshader');
  const manifest = join(folder, 'vk_swiftshader_icd.json');
  if (!existsSync(manifest)) return undefined;
  const own: Record<string, string> = { VK_DRIVER_FILES: manifest };
  // Its folder holds a Vulkan loader too. A system's own loader goes first, since it knows the system's own paths.
  if (!hasVulkanLoader(env)) own['LD_LIBRARY_PATH'] = [env['LD_LIBRARY_PATH'], folder].filter(Boolean).join(':');
  return { driverFiles: manifest, env: own };
}

/** Environments worth trying: the present one first, the loader's default, then the unpacked software driver. */
export function driverEnvironments(env: NodeJS.ProcessEnv = process.env): DriverEnvironment[] {
  const own = env['VK_DRIVER_FILES'] ?? null;
  const found: DriverEnvironment[] = [{ driverFiles: own, env: {} }];
  if (process.platform !== 'linux') return found;
  // An empty value means "no driver" to the loader, so leaving the variable out takes an explicit undefined.
  if (own !== null) found.push({ driverFiles: null, env: { VK_DRIVER_FILES: undefined } });
  const unpacked = unpackedSoftwareDriver(env);
  // The same driver file is worth another try where only the loader beside it is there.
  if (unpacked && (unpacked.driverFiles !== own || unpacked.env['LD_LIBRARY_PATH'] !== undefined)) found.push(unpacked);
  return found;
}

/** One environment for each installed driver alone: for a host where the default, which loads all, opens nothing. */
export function singleDriverEnvironments(env: NodeJS.ProcessEnv = process.env): DriverEnvironment[] {
  if (process.platform !== 'linux') return [];
  return installedManifests(env).map((manifest) => ({ driverFiles: manifest, env: { VK_DRIVER_FILES: manifest } }));
}

/** Driver manifests in the folders that the Vulkan loader documents (LoaderDriverInterface.md, "Driver Discovery"). */
function installedManifests(env: NodeJS.ProcessEnv): string[] {
  const dataDirs = (env['XDG_DATA_DIRS'] ?? '/usr/local/share:/usr/share').split(':');
  const folders = [env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share'), ...dataDirs, '/etc', '/usr/local/etc']
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'vulkan', 'icd.d'));
  return [...new Set(folders)].flatMap((folder) => {
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .toSorted()
      .map((file) => join(folder, file));
  });
}

function hasVulkanLoader(env: NodeJS.ProcessEnv): boolean {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const system = [`/usr/lib/${machine}-linux-gnu`, `/lib/${machine}-linux-gnu`, '/usr/lib64', '/lib64', '/usr/lib', '/usr/local/lib'];
  const own = (env['LD_LIBRARY_PATH'] ?? '').split(':').filter((folder) => folder !== '');
  return [...own, ...system].some((folder) => existsSync(join(folder, 'libvulkan.so.1')));
}
