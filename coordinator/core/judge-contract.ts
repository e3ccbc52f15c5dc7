/** `contract` suites: every kernel, every planted control and the SUMMARY line, head against head. */
import type { EngineRecord } from '../../engine/protocol.ts';
import type { ContractRow, LineRow, Verdict, VerdictWord } from '../protocol/verdict.ts';
import { compareContract, failsInBoth } from './compare-contract.ts';
import type { JudgeInput } from './judge-input.ts';
import { readMergeBase } from './merge-base.ts';
import type { ReadLeg } from './validity.ts';

/** Worst first: a new failure outweighs a changed contract, which outweighs what was red before. */
export function judgeContract(input: JudgeInput, legs: readonly ReadLeg[]): Pick<Verdict, 'lines' | 'contract'> & { word: VerdictWord; reason: string } {
  const cases = [...new Set(legs.map((leg) => leg.case))];
  const arm = (name: string, index: number): EngineRecord[][] => legs.filter((leg) => leg.case === name && leg.arm === index).map((leg) => [...leg.parsed]);
  const qualify = repeatsKernels(legs);
  const base = readMergeBase(input);
  const before = (name: string): EngineRecord[][] | undefined =>
    base !== null && 'legs' in base ? base.legs.filter((leg) => leg.case === name).map((leg) => [...leg.parsed]) : undefined;
  const compared = cases.map((name) => compareContract(name, arm(name, 0), arm(name, input.candidateArm), qualify, before(name)));
  const contract = compared.flatMap((item) => [...item.rows]);
  const lines = compared.flatMap((item) => [...item.lines]);
  if (contract.length === 0) return { word: 'void', reason: 'no kernel was under contract in either arm', lines, contract };
  const bare = legs.find((leg) => !leg.parsed.some((record) => record.kind === 'contract-summary'));
  if (bare !== undefined) return { word: 'void', reason: `leg ${bare.index} (${bare.case}) executed but holds no contract summary`, lines, contract };
  const kernels = legs.flatMap((leg) => leg.parsed.flatMap((record) => (record.kind === 'contract-kernel' ? [record] : [])));
  const [skipped] = kernels;
  if (skipped !== undefined && kernels.every(({ status }) => status === 'skipped'))
    return {
      word: 'not-run',
      reason: `every kernel was skipped: ${skipped.skipped ?? 'feature absent'}. next: submit to a device that has it`,
      lines,
      contract,
    };
  const found = wordOf(contract, lines);
  const untold = base !== null && 'unknown' in base ? `; the merge base tells nothing: ${base.unknown}` : '';
  return { word: found.word, reason: `${found.reason}${untold}`, lines, contract };
}

function repeatsKernels(legs: readonly ReadLeg[]): boolean {
  const caseOf = new Map<string, string>();
  for (const leg of legs) {
    for (const record of leg.parsed) {
      if (record.kind !== 'contract-kernel') continue;
      if ((caseOf.get(record.kernel) ?? leg.case) !== leg.case) return true;
      caseOf.set(record.kernel, leg.case);
    }
  }
  return false;
}

/** A reason is one sentence: it names this many rows and counts the rest, which the rows themselves show. */
const NAMED = 3;

function wordOf(rows: readonly ContractRow[], lines: readonly LineRow[]): { word: VerdictWord; reason: string } {
  const of = (status: ContractRow['status']): ContractRow[] => rows.filter((row) => row.status === status);
  const named = (found: readonly ContractRow[]): string => {
    const texts = found.slice(0, NAMED).map((row) => `${row.kernel}${row.note === '' ? '' : ` (${row.note})`}`);
    return [...texts, ...(found.length > NAMED ? [`and ${found.length - NAMED} more`] : [])].join('; ');
  };
  const [broken, changed, unlike, red, fixed] = [of('new-failure'), of('contract-changed'), of('not-comparable'), of('pre-existing'), of('fixed')];
  const differing = lines.filter((row) => row.status !== 'equal').length;
  if (broken.length > 0 && broken.every((row) => row.candidate.startsWith('not planted')))
    return { word: 'new-failure', reason: `every gate holds, but a fault can no longer be planted in the candidate: ${named(broken)}` };
  const alone = broken.filter((row) => !failsInBoth(row));
  if (broken.length > 0 && alone.length === 0) return { word: 'new-failure', reason: `fails in both arms and not in their merge base: ${named(broken)}` };
  if (broken.length > 0) return { word: 'new-failure', reason: `fails in the candidate only: ${named(alone)}` };
  if (changed.length > 0) return { word: 'output-differs', reason: `contract changed: ${named(changed)}` };
  if (unlike.length > 0) return { word: 'output-differs', reason: `the arms put different things under contract: ${named(unlike)}` };
  // A fixed kernel explains why the totals differ; nothing else does.
  if (differing > 0 && fixed.length === 0)
    return { word: 'output-differs', reason: `every kernel and control agrees, but ${differing} of ${lines.length} SUMMARY lines differ` };
  if (red.length > 0) return { word: 'pre-existing', reason: `fails in both arms: ${named(red)}${fixed.length > 0 ? `; fixed: ${named(fixed)}` : ''}` };
  if (fixed.length > 0) return { word: 'fixed', reason: `fails in the baseline only: ${named(fixed)}` };
  const controls = rows.filter((row) => row.kernel.includes(' / control ')).length;
  const skipped = rows.filter((row) => row.baseline.startsWith('skipped,')).length;
  const masked = [...new Set(lines.flatMap((row) => row.masked))];
  const outside = masked.length === 0 ? '' : ` outside of the masked ${masked.join(', ')}`;
  return {
    word: 'same',
    reason: `${rows.length - controls - skipped} kernels and ${controls} controls give the same result in both arms, none fails or is missed${skipped === 0 ? '' : `, ${skipped} skipped for an absent feature`}; SUMMARY lines equal${outside}`,
  };
}
