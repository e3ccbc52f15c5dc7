/** What the gates' results say about one kernel on one device, once its known findings are taken into account. */
import type { KnownFinding } from '../../kernels/expectations.ts';
import type { GateResult } from '../protocol.ts';

export interface KernelVerdict {
  readonly status: 'pass' | 'fail' | 'known';
  /** Reasons of the known findings that explain a failure; null otherwise. */
  readonly known: string | null;
  /** Known findings whose gate passed. */
  readonly unexpectedPasses: readonly string[];
}

/** @param findings those of this kernel and device. */
export function verdictOf(
  kernel: string,
  limits: GateResult,
  gates: Readonly<Record<1 | 2 | 3 | 4, GateResult>>,
  findings: readonly KnownFinding[],
): KernelVerdict {
  const explained = ([1, 2, 3, 4] as const).map((gate) => ({
    gate,
    failed: gates[gate].status === 'fail',
    finding: findings.find((each) => each.gate === gate),
  }));
  const unexpectedPasses = explained
    .filter(({ failed, finding }) => finding && !failed)
    .map(({ gate, finding }) => `${kernel} gate ${gate}: ${finding!.reason}`);
  const failures = explained.filter(({ failed }) => failed);
  // A kernel that does not fit the device has not been shown to work there, whatever its other gates say.
  if (limits.status === 'fail' || failures.some(({ finding }) => !finding)) return { status: 'fail', known: null, unexpectedPasses };
  if (failures.length === 0) return { status: 'pass', known: null, unexpectedPasses };
  return { status: 'known', known: failures.map(({ gate, finding }) => `gate ${gate}: ${finding!.reason}`).join('; '), unexpectedPasses };
}
