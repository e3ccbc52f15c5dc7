/**
 * Known findings: gates that fail on some devices for a reason that is understood and lies outside the kernel. A finding
 * keeps its kernel from counting as failed on that device; a gate that passes all the same is reported as an unexpected
 * pass, so that this list shrinks when drivers improve.
 */
export interface KnownFinding {
  /** Matches the adapter's name. */
  readonly device: RegExp;
  readonly kernel: string;
  readonly gate: 1 | 2 | 3 | 4;
  /** What the device does, why, and where that is documented. */
  readonly reason: string;
}

export const KNOWN_FINDINGS: readonly KnownFinding[] = [];
