/** What every measurement of the probe needs. */
import type { Gpu } from '../gpu/device.ts';
import type { Dispatch, Programs } from '../gpu/programs.ts';
import type { Stamps } from '../gpu/stamps.ts';
import type { Stream } from '../gpu/stream.ts';

export interface Bench {
  readonly gpu: Gpu;
  readonly stream: Stream;
  readonly programs: Programs;
  /** Undefined on a device without timestamps. */
  readonly stamps: Stamps | undefined;
  /** Whether the stamps agree with wall time; else wall time is what counts. */
  readonly trusted: boolean;
  /** A cheap dispatch on buffers of its own. */
  readonly mark: Dispatch;
  /** Whether the time for the whole probe is up: a measurement then stops after its first sample. */
  readonly late: () => boolean;
}
