/** How an attempt ends without results. */

/**
 * transient: another attempt may do better (the network, a killed process, an adapter that is gone). permanent: no attempt can
 * (a head that does not install).
 */
export class AttemptFailure extends Error {
  readonly class: 'transient' | 'permanent';
  /** What a person does next. */
  readonly next: string;

  constructor(kind: 'transient' | 'permanent', reason: string, next: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'AttemptFailure';
    this.class = kind;
    this.next = next;
  }
}

/** The attempt is no longer wanted: cancelled, superseded, or the agent is stopping. Nothing more is posted for it but what it measured. */
export class AttemptStopped extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'AttemptStopped';
  }
}
