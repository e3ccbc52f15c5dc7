/**
 * Child process of `devices`: prints the adapters that open in its environment, one JSON record a line. A process of its
 * own, because the Vulkan loader reads its environment once and a bad driver may end the process that loads it.
 */
import { adapterRecordOf } from './adapter-record.ts';
import { dawnInstance, listAdapters } from './instance.ts';

const driverFiles = process.env['VK_DRIVER_FILES'] ?? null;
for (const listed of await listAdapters()) {
  const adapter = await dawnInstance([`backend=${listed.backend}`, `adapter=${listed.name}`]).requestAdapter();
  if (adapter) process.stdout.write(`${JSON.stringify(adapterRecordOf(adapter, listed, driverFiles))}\n`);
}
// The pinned Dawn instances would keep the process alive.
process.exit(0);
