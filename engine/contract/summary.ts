/** What the contract command prints: lines a kernel, and the SUMMARY line that other tools read. */
import { RECORD_SCHEMA, type ContractControlRecord, type ContractKernelRecord, type ContractSummaryRecord } from '../protocol.ts';

/** The lines of one kernel: its result first, then whatever a person has to look at. */
export function kernelLine(record: ContractKernelRecord, controls: readonly ContractControlRecord[]): string[] {
  if (record.skipped !== undefined) return [`skip  ${record.kernel} (${record.variants.join(', ')}): skipped: ${record.skipped}`];
  const gates = ([1, 2, 3, 4] as const).map((gate) => `${gate} ${mark(record.gates[gate].status)}`).join(', ');
  const checks = ([1, 2, 3, 4] as const).reduce((sum, gate) => sum + record.gates[gate].checks, 0);
  const worst = record.worst ? `, worst ${record.worst.fraction.toPrecision(3)} of bound (${record.worst.case})` : '';
  const caught = controls.filter((control) => control.caught).length;
  const lines = [
    `${record.status.padEnd(5)} ${record.kernel} (${record.variants.join(', ')}): gates ${gates}; limits ${mark(record.limits.status)}; ${record.cases.length} cases, ${checks} checks${worst}; ` +
      `${record.refusedEdges} edges refused; ${caught}/${controls.length} controls caught; ${Math.round(record.gateMs)} ms`,
  ];
  if (record.limits.status === 'fail') lines.push(`      limits: ${record.limits.detail}`);
  for (const gate of [1, 2, 3, 4] as const) {
    if (record.gates[gate].status !== 'pass') lines.push(`      gate ${gate}: ${record.gates[gate].detail}`);
  }
  if (record.known !== null) lines.push(`      known: ${record.known}`);
  for (const alarm of record.alarms) lines.push(`      alarm: ${alarm}`);
  for (const control of controls)
    if (!control.caught) lines.push(`      ${control.planted === false ? '' : 'missed '}control ${control.control}: ${control.detail}`);
  return lines;
}

function mark(status: string): string {
  return status === 'not-applicable' ? 'n/a' : status;
}

/** The totals and the SUMMARY line. `gatesMs` is the time of the gates alone, without the controls. */
export function summarise(
  adapter: string,
  kernels: readonly ContractKernelRecord[],
  controls: readonly ContractControlRecord[],
  unexpectedPasses: readonly string[],
): ContractSummaryRecord {
  const count = (status: ContractKernelRecord['status']): number => kernels.filter((kernel) => kernel.status === status).length;
  const caught = controls.filter((control) => control.caught).length;
  const totals = {
    kernels: kernels.length,
    pass: count('pass'),
    fail: count('fail'),
    known: count('known'),
    controls: controls.length,
    caught,
    missed: controls.length - caught,
    limitFailures: kernels.reduce((sum, kernel) => sum + kernel.limitFailures, 0),
    gatesMs: Math.round(kernels.reduce((sum, kernel) => sum + kernel.gateMs, 0)),
  };
  const skipped = count('skipped');
  const line =
    `SUMMARY ${adapter} ${totals.kernels} kernels: ${totals.pass} pass gates 1-4, ${totals.fail} fail, ${totals.known} known findings${skipped > 0 ? `, ${skipped} skipped: feature absent` : ''}; ` +
    `${totals.controls} controls: ${totals.caught} caught, ${totals.missed} missed; ${totals.limitFailures} limit failures; gates ${totals.gatesMs} ms`;
  return { schema: RECORD_SCHEMA, kind: 'contract-summary', line, ...totals, ...(skipped > 0 && { skipped }), unexpectedPasses: [...unexpectedPasses] };
}
