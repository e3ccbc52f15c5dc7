import { asc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { devices } from '../schema.ts';

export type DeviceRow = typeof devices.$inferSelect;

/** Writes a registration over what was known of the device. */
export function putDevice(queries: Queries, row: DeviceRow): void {
  const { name: _, ...rest } = row;
  queries.insert(devices).values(row).onConflictDoUpdate({ target: devices.name, set: rest }).run();
}

export function updateDevice(queries: Queries, name: string, values: Partial<Pick<DeviceRow, 'lastSeenAt' | 'activity' | 'job' | 'leg' | 'lockHolder'>>): void {
  queries.update(devices).set(values).where(eq(devices.name, name)).run();
}

export function findDevice(queries: Queries, name: string): DeviceRow | undefined {
  return queries.select().from(devices).where(eq(devices.name, name)).get();
}

export function listDevices(queries: Queries): DeviceRow[] {
  return queries.select().from(devices).orderBy(asc(devices.name)).all();
}
