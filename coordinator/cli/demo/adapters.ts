/** The adapters that open on this machine, as the engine lists them, and the names that the demo gives them. */
import { text } from 'node:stream/consumers';
import { parseRecords, type AdapterRecord } from '../../../engine/protocol.ts';
import { FLEET_EXIT } from '../../protocol/errors.ts';
import { CliError } from '../cli-error.ts';
import { spawnRoom } from '../rooms.ts';

export interface DemoDevice {
  /** Name in fleet, such as swiftshader. */
  readonly device: string;
  /** Opens exactly this adapter. */
  readonly adapter: string;
  readonly evidence: AdapterRecord['evidence'];
}

/**
 * Asks the engine which adapters open, software ones included.
 * @throws CliError (exit 5) when none does, or the engine broke.
 */
export async function listDevices(): Promise<DemoDevice[]> {
  const child = spawnRoom('engine', ['devices', '--json', '--allow-software'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ]);
  let records;
  try {
    ({ records } = parseRecords(stdout));
  } catch (cause) {
    const said = stderr.trim().split('\n').at(-1) ?? '';
    throw new CliError(`the engine could not list adapters (exit ${status}): ${said}`, 'fleet engine devices --allow-software', FLEET_EXIT.infrastructure, {
      cause,
    });
  }
  const refused = records.find((record) => record.kind === 'refused');
  const adapters = records.filter((record) => record.kind === 'adapter');
  if (adapters.length === 0) {
    throw new CliError(
      refused?.reason ?? `no adapter opens here (exit ${status})`,
      refused?.next ?? 'node coordinator/cli/setup.mjs, which unpacks SwiftShader',
      FLEET_EXIT.infrastructure,
    );
  }
  return nameDevices(adapters);
}

/**
 * Device names for adapters: the driver's own name for the known software drivers, else the adapter's as far as a device name
 * allows. Two adapters of one name open as one, so the second is left out.
 */
export function nameDevices(adapters: readonly Pick<AdapterRecord, 'name' | 'evidence'>[]): DemoDevice[] {
  const devices = new Map<string, DemoDevice>();
  for (const { name, evidence } of adapters) {
    if ([...devices.values()].some((entry) => entry.adapter === name)) continue;
    const known = evidence === 'software' ? /swiftshader|llvmpipe/i.exec(name)?.[0].toLowerCase() : undefined;
    const base =
      known ??
      (name
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+/, '')
        .slice(0, 28)
        .replace(/-+$/, '') ||
        'adapter');
    let device = base;
    for (let copy = 2; devices.has(device); copy++) device = `${base}-${copy}`;
    devices.set(device, { device, adapter: name, evidence });
  }
  return [...devices.values()];
}
