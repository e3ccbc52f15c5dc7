/** A/A calibrations that are stored: all of them, and those that a new run is judged by. */
import { listDevices, type DeviceRow } from '../db/queries/devices.ts';
import { listCalibrations } from '../db/queries/calibrations.ts';
import { findRun } from '../db/queries/runs.ts';
import type { Queries } from '../db/open.ts';
import { staleReason } from './core/calibration.ts';
import { calibrationMeasured, type Calibration, type CalibrationList, type SealedCalibration } from './protocol/calibration.ts';
import { brokenSeal } from './seal-check.ts';
import type { SelectedSuite } from './select-work.ts';

/**
 * The calibration of every timed case on every device that has any: the newest of that suite and case, else, of the device's newest A/A
 * run, the one with the largest floor. It will be said to be stale where it is of something else.
 */
export function calibrationsFor(queries: Queries, devices: readonly DeviceRow[], suites: readonly SelectedSuite[]): SealedCalibration[] {
  return devices.flatMap((device) => {
    const known = standing(queries, device.name);
    return suites
      .filter((suite) => suite.spec.timed)
      .flatMap((suite) =>
        suite.spec.cases.flatMap(({ name }): SealedCalibration[] => {
          const chosen = known.find((item) => item.suite === suite.name && item.case === name) ?? largest(known, suite.name);
          return chosen === undefined ? [] : [{ device: device.name, suite: suite.name, case: name, measured: measuredOf(chosen) }];
        }),
      );
  });
}

/** Every calibration, newest first, with what speaks against it on the device as it is now. */
export function viewCalibrations(queries: Queries): CalibrationList {
  const devices = new Map(listDevices(queries).map((device) => [device.name, device]));
  const at = new Date().toISOString();
  const calibrations = standing(queries).map((item) => {
    const { suite, case: name, args, model } = item;
    const { adapter = null, driver = null } = devices.get(item.device) ?? {};
    return { ...item, stale: staleReason(item, { suite, case: name, args, model, adapter, driver, at }) };
  });
  return { schema: 1, calibrations };
}

/** Those of runs that still are what was sealed, newest first. */
function standing(queries: Queries, device?: string): Calibration[] {
  const whole = new Map<string, boolean>();
  return listCalibrations(queries, device).flatMap(({ run, calibration }) => {
    const there = whole.get(run) ?? brokenSeal(queries, findRun(queries, run)!) === null;
    whole.set(run, there);
    return there ? [calibration] : [];
  });
}

/** Of the newest run of this suite, else of any: the calibration with the largest floor. */
function largest(known: readonly Calibration[], suite: string): Calibration | undefined {
  const of = known.filter((item) => item.suite === suite);
  const candidates = of.length > 0 ? of : known;
  return candidates.filter((item) => item.run === candidates[0]!.run).toSorted((a, b) => b.floor.percent - a.floor.percent)[0];
}

/** What was measured, without what follows from it: verdicts compute that anew. */
const measuredOf = (calibration: Calibration): SealedCalibration['measured'] => calibrationMeasured.strip().parse(calibration);
