/** Which Mesa is installed now, read from the driver libraries themselves: no device is opened, and an upgrade during a series shows. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import type { AdapterRecord } from '../engine/protocol.ts';

/** Where the Vulkan loader looks for drivers, and the linker for their libraries. */
export interface DriverFolders {
  readonly manifests: readonly string[];
  readonly libraries: readonly string[];
}

const FOLDERS: DriverFolders = {
  manifests: ['/etc/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/usr/share/vulkan/icd.d'],
  libraries: [`/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`, '/usr/lib64', '/usr/lib', '/usr/local/lib'],
};

/** Libraries have tens of megabytes and are read once, until they are replaced. */
const known = new Map<string, { readonly stamp: string; readonly versions: readonly string[] }>();

/**
 * `25.0.7`, without the distribution's suffix, of which optimised code keeps a part only.
 * @returns null where the adapter's driver is none of Mesa's, or the installed drivers are not of one version or cannot be read.
 */
export function readMesaVersion(adapter: Pick<AdapterRecord, 'driver' | 'driverFiles' | 'libraryPath'>, folders: DriverFolders = FOLDERS): string | null {
  if (!/\bMesa\b/.test(adapter.driver)) return null;
  const manifests = adapter.driverFiles?.split(delimiter) ?? folders.manifests.flatMap(manifestsIn);
  const libraries = [...(adapter.libraryPath?.split(delimiter) ?? []), ...folders.libraries];
  try {
    const versions = new Set(manifests.flatMap((file) => libraryOf(file, libraries) ?? []).flatMap(versionsIn));
    return versions.size === 1 ? [...versions][0]! : null;
  } catch {
    // A library may be replaced or closed to this user between being found and being read.
    return null;
  }
}

function manifestsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** The library that a driver manifest names; null where it is none, or not there. */
function libraryOf(manifest: string, folders: readonly string[]): string | null {
  let name: unknown;
  try {
    name = (JSON.parse(readFileSync(manifest, 'utf8')) as { ICD?: { library_path?: unknown } }).ICD?.library_path;
  } catch {
    return null;
  }
  if (typeof name !== 'string') return null;
  // As the loader does: a name alone is the linker's to find, a relative path starts at the manifest.
  const candidates = isAbsolute(name) ? [name] : name.includes('/') ? [resolve(dirname(manifest), name)] : folders.map((folder) => join(folder, name));
  return candidates.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile()) ?? null;
}

function versionsIn(library: string): readonly string[] {
  const found = statSync(library, { throwIfNoEntry: false });
  if (found === undefined) return [];
  const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
  const there = known.get(library);
  if (there?.stamp === stamp) return there.versions;
  const text = readFileSync(library).toString('latin1');
  const versions = [...new Set([...text.matchAll(/Mesa (\d+\.\d+\.\d+)/g)].map((match) => match[1]!))];
  known.set(library, { stamp, versions });
  return versions;
}
