/** An A/A run: a head against itself, which is measured and judged as every run, and says how noisy its device is. */
import type { Store } from '../db/open.ts';
import type { Log } from './events.ts';
import { readManifest } from './heads/manifest.ts';
import type { Heads } from './heads/repository.ts';
import type { CalibrateRequest } from './protocol/calibration.ts';
import type { Carrier } from './queue/reconcile.ts';
import { Refusal } from './refusal.ts';
import { submitRun, type SubmittedRun } from './submit.ts';

/**
 * Submits an A/A run: one head as both arms, on one device, in its timed suites.
 * @throws Refusal as `submitRun` does, and for a suite that times nothing.
 */
export async function calibrate(store: Store, heads: Heads, carrier: Carrier, log: Log, request: CalibrateRequest): Promise<SubmittedRun> {
  const { arm, device, pairs, seed, cases, allowSoftware, key } = request;
  const { suites } = await readManifest(heads, arm.head);
  const timed = Object.keys(suites).filter((name) => suites[name]!.timed);
  const untimed = request.suites?.find((name) => Object.hasOwn(suites, name) && !timed.includes(name));
  if (untimed !== undefined || timed.length === 0) {
    const has = timed.length === 0 ? 'its fleet.json times no suite' : `it times ${timed.join(', ')}`;
    throw new Refusal(
      'unknown-suite',
      `${untimed === undefined ? arm.label : `suite ${untimed} of ${arm.label}`} cannot be calibrated: ${has}`,
      'name a timed suite with --suites',
    );
  }
  const again = { ...arm, label: `${arm.label} again` };
  return submitRun(
    store,
    heads,
    carrier,
    log,
    {
      arms: [arm, again],
      suites: request.suites ?? timed,
      ...(cases === undefined ? {} : { cases }),
      devices: [device],
      pairs,
      ...(seed === undefined ? {} : { seed }),
      allowSoftware,
      key,
    },
    { calibrates: true },
  );
}
