/** `devices`: which adapters open on this host, and what it takes to open each. */
import { EngineRefused } from './errors.ts';
import { discoverAdapters } from './gpu/discover.ts';
import { driversFolder } from './gpu/driver-files.ts';
import type { Session } from './session.ts';

/**
 * Lists the adapters.
 * @throws EngineRefused when none opens.
 */
export async function listDevices(session: Session, allowSoftware: boolean): Promise<void> {
  const found = await discoverAdapters(allowSoftware);
  if (found.length === 0) {
    if (!allowSoftware) throw new EngineRefused('no GPU adapter opens on this host', 'fleet engine devices --allow-software lists software drivers too');
    throw new EngineRefused(
      `no adapter opens on this host, and no software driver is unpacked in ${driversFolder()}`,
      'node coordinator/cli/setup.mjs unpacks one; a GPU box needs its Vulkan driver installed',
    );
  }
  for (const { record } of found) {
    session.emit(record);
    const loader = record.libraryPath === undefined ? '' : ` LD_LIBRARY_PATH=${record.libraryPath}`;
    session.print(`${record.name}  [${record.evidence}]  ${record.backend}; ${record.driver}; VK_DRIVER_FILES=${record.driverFiles ?? '(default)'}${loader}`);
  }
}
