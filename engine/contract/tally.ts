import type { GateResult } from '../protocol.ts';

/** Counts what one gate compared and keeps the first thing that it found. */
export class Tally {
  #checks = 0;
  #faults = 0;
  #detail = '';
  #reason = '';

  /** Records `checks` comparisons; a `fault` that is not empty fails the gate. */
  add(checks: number, where: string, fault: string): void {
    this.#checks += checks;
    if (fault === '') return;
    this.#faults++;
    if (this.#detail === '') this.#detail = `${where}: ${fault}`;
  }

  /** The gate does not apply, and why. */
  skip(reason: string): void {
    this.#reason = reason;
  }

  get failed(): boolean {
    return this.#faults > 0;
  }

  get faults(): number {
    return this.#faults;
  }

  /** The gate's result. A gate that compared nothing did not pass. */
  result(): GateResult {
    const checks = this.#checks;
    if (this.failed) return { status: 'fail', checks, detail: this.#detail };
    if (this.#reason !== '') return { status: 'not-applicable', checks, detail: this.#reason };
    if (checks === 0) return { status: 'fail', checks, detail: 'nothing was compared' };
    return { status: 'pass', checks, detail: '' };
  }
}
