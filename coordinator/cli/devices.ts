import type { Command } from 'commander';
import { z } from 'zod';
import { deviceView, type DeviceView } from '../protocol/agent.ts';
import { clientOf, withService, type ServiceFlags } from './options.ts';
import { print, printJson, table } from './output.ts';

/** `fleet devices`: every device that an agent ever served. */
export function registerDevices(program: Command): void {
  withService(program.command('devices').description('devices, and what each is doing')).action(async (flags: ServiceFlags) => {
    const devices = await clientOf(flags).get('/api/devices', z.array(deviceView));
    if (flags.json) printJson({ schema: 1, devices });
    else print(deviceTable(devices));
  });
}

/** What it is doing, or since when nobody serves it. */
function now({ live, activity, job, note, lastSeenAt }: DeviceView): string {
  if (live) return [activity, job, note].filter(Boolean).join(', ');
  return activity === 'stopped' ? `stopped (at ${lastSeenAt})` : `no agent (last seen ${lastSeenAt})`;
}

/** Devices as a table. */
export function deviceTable(devices: readonly DeviceView[]): string {
  if (devices.length === 0) return 'no device yet. next: fleet agent --device NAME --adapter PATTERN';
  return table(
    ['device', 'evidence', 'adapter', 'driver', 'host', 'lock', 'now'],
    devices.map((entry) => [entry.device, entry.evidence, entry.adapter, entry.driver, entry.host, entry.lockPath, now(entry)]),
  );
}
