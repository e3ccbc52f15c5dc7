/** What a device has been given and has not yet been seen to finish, and how long a wait for it may take. */
import type { Evidence } from '../protocol.ts';

/**
 * Milliseconds of a wait, and more for each dispatch or pipeline that it may have to wait for. A token is 136 dispatches of some 10 µs; one
 * dispatch of a long prompt takes 0.1 s on a small GPU, and seconds on a CPU driver whose cores are busy.
 */
const LIMIT_MS: Readonly<Record<Evidence, { readonly least: number; readonly each: number }>> = {
  gpu: { least: 60_000, each: 250 },
  software: { least: 300_000, each: 2_000 },
};

/** How long a wait may take while `pending` dispatches and pipelines are pending. */
export function waitLimitMs(evidence: Evidence, pending: number): number {
  const { least, each } = LIMIT_MS[evidence];
  return least + each * pending;
}

/** Counts work by when it was submitted: a queue finishes in order. */
export class Pending {
  #added = 0;
  #done = 0;

  /** Dispatches, or pipelines, that are not known to be finished. */
  get count(): number {
    return this.#added - this.#done;
  }

  /** Where the queue ends now. */
  get mark(): number {
    return this.#added;
  }

  add(count: number): void {
    this.#added += count;
  }

  /** What was added up to `mark` is finished. */
  reached(mark: number): void {
    this.#done = Math.max(this.#done, mark);
  }
}
