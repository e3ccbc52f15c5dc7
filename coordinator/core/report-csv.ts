/** A run as CSV (RFC 4180), unrounded: a row a pair (void ones too), a row a case's figures, a row a verdict without any, and a row a gap in coverage. */
import { correctionsOf, pairName, verdictName } from '../protocol/figures.ts';
import type { RunView } from '../protocol/run.ts';
import type { Effect, Verdict } from '../protocol/verdict.ts';
import { stripControls } from './mask.ts';

const COLUMNS = [
  'row',
  'run',
  'device',
  'evidence',
  'suite',
  'candidate',
  'verdict',
  'case',
  'pair',
  'order',
  'baseline_leg',
  'candidate_leg',
  'baseline_ms',
  'candidate_ms',
  'gain_percent',
  'low_percent',
  'high_percent',
  'sign_flip_p',
  'note',
  'corrections',
] as const;

type Row = Partial<Record<(typeof COLUMNS)[number], string | number>>;

/** Renders a run. Figures are named as the columns say; `row` is verdict, case (median, its Hodges–Lehmann interval, one-sided p), pair, void-pair or coverage. */
export function renderCsv(view: RunView): string {
  const rows = [...view.jobs.flatMap((job) => job.verdicts.flatMap((verdict, at) => rowsOf(view, verdictName(job, at), verdict))), ...gapsOf(view)];
  const lines = rows.map((row) => COLUMNS.map((column) => cell(column === 'run' ? view.run : row[column])).join(','));
  return [COLUMNS.join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

function rowsOf(view: RunView, name: string, verdict: Verdict): Row[] {
  const { device, evidence, suite, candidate } = verdict;
  const base = { device, evidence, suite, candidate, verdict: verdict.verdict };
  const marked = (...names: string[]): Row => {
    const found = correctionsOf(view, ...names).map((at) => view.corrections![at - 1]!.text);
    return found.length === 0 ? {} : { corrections: found.join(' | ') };
  };
  return [
    { ...base, row: 'verdict', note: verdict.reason, ...marked(`${name}/verdict`, `${name}/reason`) },
    ...verdict.effects.flatMap((effect) => [
      { ...base, row: 'case', ...caseRow(effect), ...marked(...CASE_FIGURES.map((figure) => `${name}/${effect.case}/${figure}`)) },
      ...effect.pairs.map((pair) => ({
        ...base,
        row: 'pair',
        case: effect.case,
        pair: pair.pair,
        order: pair.order,
        baseline_leg: pair.baselineLeg,
        candidate_leg: pair.candidateLeg,
        baseline_ms: pair.baselineMs,
        candidate_ms: pair.candidateMs,
        gain_percent: pair.gainPercent,
        note: [...pair.flags, ...(pair.machine ?? [])].join('; '),
        ...marked(pairName(name, effect.case, pair.pair)),
      })),
      ...(effect.voidPairs ?? []).map(({ pair, baselineLeg, candidateLeg, reason }) => ({
        ...base,
        row: 'void-pair',
        case: effect.case,
        pair,
        baseline_leg: baselineLeg,
        candidate_leg: candidateLeg,
        note: reason,
        ...marked(pairName(name, effect.case, pair)),
      })),
    ]),
  ];
}

const CASE_FIGURES = ['medianPercent', 'interval', 'signFlipP', 'ruleNote', 'ruleMet'] as const;

function caseRow({ case: of, medianPercent, interval, signFlipP, ruleNote }: Effect): Row {
  const range = interval === null ? {} : { low_percent: interval.low, high_percent: interval.high };
  return { case: of, gain_percent: medianPercent, ...range, sign_flip_p: signFlipP, note: ruleNote };
}

function gapsOf(view: RunView): Row[] {
  return view.coverage.flatMap(({ device, suite, arm, status, note }) =>
    status === 'measured' ? [] : [{ row: 'coverage', device, suite, candidate: arm, verdict: status, note }],
  );
}

/** Quoted where it must be. A text that a spreadsheet would take for a formula gets an apostrophe before it: heads and devices are strangers'. */
function cell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const flat = stripControls(value.replaceAll(/\s+/g, ' '));
  const text = /^[=+\-@]/.test(flat) ? `'${flat}` : flat;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
