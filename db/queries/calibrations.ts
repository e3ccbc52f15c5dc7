import { asc, desc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { calibrations } from '../schema.ts';

export type CalibrationRow = typeof calibrations.$inferSelect;

/** Stores what an A/A run gave, as its own rows say it. */
export function addCalibrations(queries: Queries, items: readonly CalibrationRow['calibration'][]): void {
  if (items.length === 0) return;
  const rows = items.map((calibration): CalibrationRow => {
    const { run, device, suite, case: caseName, at, head, driver, evidence, floor } = calibration;
    return { run, device, suite, caseName, at, head, driver, evidence, floorPercent: floor.percent, calibration };
  });
  queries.insert(calibrations).values(rows).run();
}

/** Newest first; cases of one run by name. @param device default: all. */
export function listCalibrations(queries: Queries, device?: string): CalibrationRow[] {
  return queries
    .select()
    .from(calibrations)
    .where(device === undefined ? undefined : eq(calibrations.device, device))
    .orderBy(desc(calibrations.at), desc(calibrations.run), asc(calibrations.suite), asc(calibrations.caseName))
    .all();
}

/** What one A/A run gave. */
export function listCalibrationsOf(queries: Queries, run: string): CalibrationRow[] {
  return queries
    .select()
    .from(calibrations)
    .where(eq(calibrations.run, run))
    .orderBy(asc(calibrations.device), asc(calibrations.suite), asc(calibrations.caseName))
    .all();
}
