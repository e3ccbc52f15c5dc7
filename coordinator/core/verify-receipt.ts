/** Holds the report of a receipt against its raw files: every figure is computed anew, and the first that differs is named. */
import { RECEIPT_FILES } from '../protocol/receipt.ts';
import type { RunView } from '../protocol/run.ts';
import { shownCoverage } from './coverage.ts';
import { figuresOf, type Figure } from './figures.ts';
import { changedFiles, countRaw, fileText, readReceipt, readStatedView, type ReceiptFiles } from './receipt.ts';
import { ReceiptError } from './receipt-error.ts';
import { receiptUrl, viewOfReceipt } from './receipt-view.ts';
import { renderMarkdown } from './report.ts';
import { renderCsv } from './report-csv.ts';

export interface Difference {
  /** A figure's name (figures.ts), `report.md line N`, or `report.csv line N`. */
  readonly figure: string;
  /** What the report states, and what the raw files give; undefined: it is not there. */
  readonly stated: Figure['value'] | undefined;
  readonly computed: Figure['value'] | undefined;
}

export interface Verification {
  readonly run: string;
  /** Figures that were computed anew, and raw files they came from. */
  readonly figures: number;
  readonly files: number;
  /** Version of fleet that wrote the receipt. */
  readonly writtenBy: string;
  readonly first: Difference | null;
  /** Raw files whose SHA-256 is not the one listed. */
  readonly changed: readonly string[];
  /** Why figures could not be computed: a raw file that was changed cannot be read. */
  readonly unreadable: string | null;
}

/** @throws ReceiptError when these files are no receipt, or raw files that are as listed cannot be read. */
export function verifyReceipt(files: ReceiptFiles): Verification {
  const changed = changedFiles(files);
  const stated = readStatedView(files);
  const base = { run: stated.run, files: countRaw(files), changed, writtenBy: '' };
  try {
    const { fleet, runs } = readReceipt(files);
    const computed = asStated(viewOfReceipt(files), stated);
    if (stated.url !== receiptUrl(stated.run) || runs.at(-1)!.run !== stated.run) throw new ReceiptError(`${RECEIPT_FILES.view} is of another run`);
    const figures = figuresOf(computed);
    const first =
      firstDifference(figuresOf(stated), figures) ??
      textDifference(RECEIPT_FILES.markdown, fileText(files, RECEIPT_FILES.markdown), renderMarkdown(computed)) ??
      // Receipts of earlier versions have no CSV.
      (files.has(RECEIPT_FILES.csv) ? textDifference(RECEIPT_FILES.csv, fileText(files, RECEIPT_FILES.csv), renderCsv(computed)) : null);
    return { ...base, writtenBy: fleet, figures: figures.length, first, unreadable: null };
  } catch (error) {
    if (!(error instanceof ReceiptError) || changed.length === 0) throw error;
    return { ...base, figures: 0, first: null, unreadable: error.message };
  }
}

/**
 * What versions did not compute alike is taken as they stated it: drift, where none of their contract rows has any; and a verdict that was void as a
 * whole because one leg shared the GPU, where now the leg's pair is.
 */
function asStated(computed: RunView, stated: RunView): RunView {
  const jobs = computed.jobs.map((job, at) => ({
    ...job,
    verdicts: job.verdicts.map((verdict, nth) => {
      const said = stated.jobs[at]?.verdicts[nth];
      if (said?.verdict === 'void' && verdict.verdict !== 'void' && said.reason.startsWith('another process was on the GPU ')) return said;
      if (said === undefined || said.contract.length === 0 || said.contract.some((row) => row.worst !== undefined)) return verdict;
      return { ...verdict, contract: verdict.contract.map(({ worst: _worst, differingCases: _differing, cases: _cases, ...row }) => row) };
    }),
  }));
  return { ...computed, jobs, coverage: shownCoverage(computed.coverage, jobs) };
}

/** In the order of the computed figures; those that only the report has come last. */
function firstDifference(stated: readonly Figure[], computed: readonly Figure[]): Difference | null {
  const there = lists(stated);
  const here = lists(computed);
  for (const name of new Set([...here.keys(), ...there.keys()])) {
    const [said, found] = [there.get(name) ?? [], here.get(name) ?? []];
    for (let at = 0; at < Math.max(said.length, found.length); at++)
      if (said[at] !== found[at] || said.length !== found.length) return { figure: name, stated: said[at], computed: found[at] };
  }
  return null;
}

/** Values by name; a name may occur twice where a head repeats a line or kernel. */
function lists(figures: readonly Figure[]): Map<string, Figure['value'][]> {
  const map = new Map<string, Figure['value'][]>();
  for (const { name, value } of figures) map.set(name, [...(map.get(name) ?? []), value]);
  return map;
}

function textDifference(file: string, stated: string, computed: string): Difference | null {
  if (stated === computed) return null;
  const [said, found] = [stated.split('\n'), computed.split('\n')];
  const at = found.findIndex((line, index) => line !== said[index]);
  const line = at === -1 ? found.length : at;
  return { figure: `${file} line ${line + 1}`, stated: said[line], computed: found[line] };
}
