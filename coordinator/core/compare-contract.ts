/** Kernel contracts, head against head: each kernel and each planted control, and the SUMMARY line. */
import type { ContractControlRecord, ContractKernelRecord, EngineRecord, GateResult } from '../../engine/protocol.ts';
import type { ContractRow, LineRow } from '../protocol/verdict.ts';
import { compareLines } from './compare-lines.ts';
import { contractDrift } from './contract-drift.ts';

type Status = ContractRow['status'];

export interface ContractComparison {
  readonly rows: readonly ContractRow[];
  readonly lines: readonly LineRow[];
}

/**
 * Compares the records of one case's legs. Where an arm has several legs, a kernel counts as the worst that any of them saw.
 * @param name the case; rows carry it in their kernel's name when `qualify` is set (several cases hold the same kernel).
 * @param mergeBase records of the merge base's legs, which tell what failed before both heads; absent: it was not measured.
 */
export function compareContract(
  name: string,
  baseline: readonly EngineRecord[][],
  candidate: readonly EngineRecord[][],
  qualify: boolean,
  mergeBase?: readonly EngineRecord[][],
): ContractComparison {
  const prefix = qualify ? `${name}: ` : '';
  const left = results(baseline);
  const right = results(candidate);
  const base = mergeBase === undefined ? undefined : results(mergeBase);
  const keys = [...new Set([...left.kernels.keys(), ...right.kernels.keys()])];
  const rows: ContractRow[] = keys.map((key) => {
    const [before, after] = [left.kernels.get(key), right.kernels.get(key)];
    const row = kernelRow(`${prefix}${key}`, before, after);
    const classed = base === undefined || after === undefined ? row : sinceMergeBase(row, kernelBefore(base.kernels.get(key), after));
    return before === undefined || after === undefined ? classed : { ...classed, ...contractDrift(before, after) };
  });
  for (const key of new Set([...left.controls.keys(), ...right.controls.keys()])) {
    const row = controlRow(`${prefix}${key}`, left.controls.get(key), right.controls.get(key));
    const { kernel } = (right.controls.get(key) ?? left.controls.get(key))!;
    rows.push(base === undefined ? row : sinceMergeBase(row, controlBefore(base, right, key, kernel)));
  }
  return { rows, lines: compareLines(name, left.summary, right.summary).rows };
}

/** Whether a new failure is one of both heads, which `sinceMergeBase` alone makes of one. The note quotes what a head printed, and is not asked. */
export const failsInBoth = ({ baseline }: ContractRow): boolean => /^(?:fail|missed|not planted),/.test(baseline);

/** How the merge base did where a head fails: `unlike` where its contract is another, so that its result says nothing. */
type Before = 'absent' | 'fails' | 'passes' | 'unlike';

function kernelBefore(record: ContractKernelRecord | undefined, candidate: ContractKernelRecord): Before {
  if (record === undefined) return 'absent';
  if (changedFiles(record, candidate) !== '') return 'unlike';
  return rank(record) === 2 ? 'fails' : 'passes';
}

function controlBefore(base: Results, candidate: Results, key: string, kernel: string): Before {
  const [was, is] = [base.kernels.get(kernel), candidate.kernels.get(kernel)];
  if (was !== undefined && is !== undefined && changedFiles(was, is) !== '') return 'unlike';
  const record = base.controls.get(key);
  return record === undefined ? 'absent' : record.caught ? 'passes' : 'fails';
}

/**
 * A failure in both heads is one from before only if the merge base fails too; else each head, or a commit that both have taken in, brought
 * it. A failure in the candidate alone stays new against this baseline, whatever the merge base did.
 */
function sinceMergeBase(row: ContractRow, before: Before): ContractRow {
  const noted = (status: Status, note: string): ContractRow => ({ ...row, status, note: row.note === '' ? note : `${row.note}; ${note}` });
  if (row.status === 'new-failure') return before === 'fails' ? noted('new-failure', 'the merge base fails too: the baseline was fixed since') : row;
  if (row.status !== 'pre-existing') return row;
  switch (before) {
    case 'fails':
      return noted('pre-existing', 'the merge base fails too');
    case 'unlike':
      return noted('pre-existing', 'the merge base has another contract and does not tell');
    case 'passes':
      return noted('new-failure', 'both heads fail and their merge base passes');
    case 'absent':
      return noted('new-failure', 'both heads fail and their merge base does not have it');
  }
}

interface Results {
  readonly kernels: Map<string, ContractKernelRecord>;
  readonly controls: Map<string, ContractControlRecord>;
  readonly summary: string[];
}

function results(legs: readonly EngineRecord[][]): Results {
  const kernels = new Map<string, ContractKernelRecord>();
  const controls = new Map<string, ContractControlRecord>();
  for (const record of legs.flat()) {
    if (record.kind === 'contract-kernel') {
      const known = kernels.get(record.kernel);
      if (known === undefined || rank(record) > rank(known)) kernels.set(record.kernel, record);
    } else if (record.kind === 'contract-control') {
      const key = `${record.kernel} / control ${record.control}`;
      if (controls.get(key)?.caught !== false) controls.set(key, record);
    }
  }
  const first = legs[0] ?? [];
  return { kernels, controls, summary: first.flatMap((record) => (record.kind === 'contract-summary' ? [record.line] : [])) };
}

const RANK = { pass: 0, skipped: 0, known: 1, fail: 2 } as const;

/** 0 pass, 1 known finding, 2 fail; a limit failure is a failure, whatever the gates say, and so is a pass that they do not bear out. */
function rank(record: ContractKernelRecord): 0 | 1 | 2 {
  return record.limitFailures > 0 || record.limits.status === 'fail' || contradiction(record) !== null ? 2 : RANK[record.status];
}

/** Why a record's own gates do not bear out its status; null when they do. */
function contradiction({ status, gates, cases }: ContractKernelRecord): string | null {
  const all = [gates[1], gates[2], gates[3], gates[4]];
  if (status === 'pass' && all.some((gate) => gate.status === 'fail')) return 'it says pass, and a gate of it fails';
  if (all.some((gate) => gate.status === 'pass' && gate.checks === 0)) return 'a gate passes and compared nothing';
  if (status === 'skipped') return cases.length === 0 ? null : 'it says skipped, and ran cases';
  if (status !== 'fail' && cases.length === 0) return 'it says pass, and ran no case';
  return null;
}

function kernelRow(kernel: string, baseline: ContractKernelRecord | undefined, candidate: ContractKernelRecord | undefined): ContractRow {
  const row = (status: Status, note: string): ContractRow => ({ kernel, status, baseline: kernelText(baseline), candidate: kernelText(candidate), note });
  if (baseline === undefined) {
    const fails = rank(candidate!) === 2;
    return fails ? row('new-failure', `only in the candidate, and fails there: ${failure(candidate!)}`) : row('not-comparable', 'only in the candidate');
  }
  if (candidate === undefined) return row('not-comparable', 'only in the baseline: the candidate no longer has this kernel under contract');
  const [before, after] = [rank(baseline), rank(candidate)];
  const changed = changedFiles(baseline, candidate);
  const changedNote = changed === '' ? '' : `; its ${changed} changed too`;
  if (after > before) return row('new-failure', `${after === 1 ? `became a known finding: ${candidate.known ?? ''}` : failure(candidate)}${changedNote}`);
  if (changed !== '') return row('contract-changed', `${changed} differ${changed.includes(' and ') ? '' : 's'}: the two results are not of the same contract`);
  if (before === 2 && after === 1) return row('contract-changed', `its failure was declared a known finding: ${candidate.known ?? ''}`);
  if ((baseline.status === 'skipped') !== (candidate.status === 'skipped'))
    return row('not-comparable', `skipped in one arm: ${baseline.skipped ?? candidate.skipped ?? ''}`);
  const lost = lostCases(baseline, candidate);
  if (lost !== '') return row('contract-changed', lost);
  if (after < before) return row('fixed', `the baseline ${before === 2 ? `fails: ${failure(baseline)}` : `has a known finding: ${baseline.known ?? ''}`}`);
  if (after === 2) return row('pre-existing', failure(candidate));
  if (candidate.status === 'skipped') return row('same', `skipped in both arms: ${candidate.skipped ?? 'feature absent'}`);
  return row('same', [after === 1 ? `known finding: ${candidate.known ?? ''}` : '', outputs(baseline, candidate)].filter(Boolean).join('; '));
}

/** `pass, worst 0.990 of bound` */
function kernelText(record: ContractKernelRecord | undefined): string {
  if (record === undefined) return 'absent';
  const word = rank(record) === 2 ? 'fail' : record.status;
  if (word === 'skipped') return `skipped, ${record.skipped ?? 'feature absent'}`;
  const checks = [record.gates[1], record.gates[2], record.gates[3], record.gates[4]].reduce((sum, gate) => sum + gate.checks, 0);
  const worst = record.worst === null ? '' : `, worst ${record.worst.fraction.toFixed(3)} of bound`;
  return `${word}, ${checks} checks${worst}${record.refusedEdges > 0 ? `, ${record.refusedEdges} refused edges` : ''}`;
}

/** First thing that failed. */
function failure(record: ContractKernelRecord): string {
  const gates: [string, GateResult][] = [
    ['limits', record.limits],
    ['gate 1 launch', record.gates[1]],
    ['gate 2 integrity', record.gates[2]],
    ['gate 3 shapes', record.gates[3]],
    ['gate 4 sums', record.gates[4]],
  ];
  const failed = gates.find(([, gate]) => gate.status === 'fail');
  if (failed !== undefined) return `${failed[0]}: ${failed[1].detail}`;
  if (record.limitFailures > 0) return `${record.limitFailures} limit failures`;
  return contradiction(record) ?? record.known ?? 'failed, and no gate says why';
}

/** Files that define what passing means. The shader and its wrapper may change; these may not, silently. */
function changedFiles(baseline: ContractKernelRecord, candidate: ContractKernelRecord): string {
  const changed = (['contract', 'reference', 'control', 'harness'] as const).filter((file) => baseline.hashes[file] !== candidate.hashes[file]);
  return changed.map((file) => (file === 'harness' ? 'code shared by contracts' : file)).join(' and ');
}

/** Cases that only the baseline ran (a wrapper may drop a variant): they were not shown to hold. Empty when there are none. */
function lostCases(baseline: ContractKernelRecord, candidate: ContractKernelRecord): string {
  const ran = new Set(candidate.cases.map((item) => item.name));
  const lost = baseline.cases.filter((item) => !ran.has(item.name));
  return lost.length === 0 ? '' : `the candidate did not run ${lost.length} of the baseline's ${baseline.cases.length} cases, such as ${lost[0]!.name}`;
}

function outputs(baseline: ContractKernelRecord, candidate: ContractKernelRecord): string {
  const digests = new Map(baseline.cases.map((item) => [item.name, item.outputDigest]));
  const shared = candidate.cases.filter((item) => digests.has(item.name));
  const differ = shared.filter((item) => digests.get(item.name) !== item.outputDigest).length;
  return differ === 0 ? '' : `output bits differ in ${differ} of ${shared.length} cases, within bounds`;
}

/** Engines before `planted` was told apart said it in the detail alone. */
function isPlanted(record: ContractControlRecord): boolean {
  return record.planted ?? !record.detail.startsWith('not planted: ');
}

/** Nothing was shown of the gate, and it is the control that has to follow the shader. */
function notPlanted(record: ContractControlRecord): string {
  if (record.detail.includes('. next: ')) return record.detail;
  return `${record.detail}. next: update "find" in kernels/${record.kernel}/${record.kernel}.control.ts`;
}

function controlRow(kernel: string, baseline: ContractControlRecord | undefined, candidate: ContractControlRecord | undefined): ContractRow {
  const text = (record: ContractControlRecord | undefined): string =>
    record === undefined ? 'absent' : `${record.caught ? 'caught' : isPlanted(record) ? 'missed' : 'not planted'}, gate ${record.gate}`;
  const row = (status: Status, note: string): ContractRow => ({ kernel, status, baseline: text(baseline), candidate: text(candidate), note });
  if (baseline === undefined)
    return candidate!.caught
      ? row('not-comparable', 'only in the candidate')
      : row('new-failure', isPlanted(candidate!) ? `only in the candidate, and missed there: ${candidate!.detail}` : notPlanted(candidate!));
  if (candidate === undefined) return row('not-comparable', 'only in the baseline: the candidate no longer plants this fault');
  if (!candidate.caught && !isPlanted(candidate)) return row(baseline.caught ? 'new-failure' : 'pre-existing', notPlanted(candidate));
  if (baseline.caught && !candidate.caught) return row('new-failure', `the planted fault is no longer caught: ${candidate.detail}`);
  if (baseline.gate !== candidate.gate) return row('contract-changed', `the gate that must catch it moved from ${baseline.gate} to ${candidate.gate}`);
  if (!baseline.caught && candidate.caught) return row('fixed', 'the planted fault is caught now');
  return candidate.caught ? row('same', '') : row('pre-existing', candidate.detail);
}
