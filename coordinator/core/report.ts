/**
 * A run as Markdown for a pull request, from stored records only. Every text that comes from a head, a log or a device
 * stands in a code span: there it cannot ping people, link issues, or hold HTML.
 */
import { pairName, verdictName } from '../protocol/figures.ts';
import { candidatesOf, type JobView, type PooledModes, type RunView } from '../protocol/run.ts';
import type { Effect, Verdict } from '../protocol/verdict.ts';
import { correctionList, marks } from './corrections.ts';
import { driftTable } from './report-drift.ts';
import { bytes, code, fit, number, percent, table } from './markdown.ts';
import { smallestP } from './sign-flip.ts';

/** GitHub refuses comments over 65,536 characters; other readers are stricter. */
export const REPORT_BYTES = 60_000;
/** Room for the list of what was left out. */
const RESERVED_BYTES = 2_000;

/** A verdict and the name that its figures start with. */
type Named = readonly [name: string, verdict: Verdict];

interface Section {
  readonly title: string;
  readonly text: string;
}

/**
 * Renders a run. What does not fit into 60,000 bytes is left out whole, last sections first to go, and named with the URL.
 */
export function renderMarkdown(view: RunView): string {
  const named = view.jobs.flatMap((job) => job.verdicts.map((verdict, at): Named => [verdictName(job, at), verdict]));
  const verdicts = named.map(([, verdict]) => verdict);
  const head = [title(view), importedNote(view), calibratedNote(view), verdictTable(view), evidenceNote(view), correctionList(view, code), coverage(view)]
    .filter(Boolean)
    .join('\n\n');
  const sections: Section[] = [
    { title: 'heads and devices', text: heads(view) },
    { title: 'rule', text: sealText(view) },
    { title: 'what is not covered', text: gapTable(view) },
    { title: 'effects', text: effects(view, named) },
    { title: 'forecasts', text: forecasts(view, named) },
    { title: 'output identity', text: identities(view, named) },
    { title: 'contract', text: contract(view, named) },
    { title: 'drift within bounds', text: driftTable(named) },
    ...named.flatMap(([name, verdict]) =>
      verdict.effects.map((effect) => ({ title: `pairs of ${verdict.device}, ${effect.case}`, text: pairs(view, name, verdict, effect) })),
    ),
    ...named.map(([name, verdict]) => ({ title: `lines of ${verdict.device}, ${verdict.suite}`, text: lines(view, name, verdict) })),
    { title: 'provenance', text: provenance(view, verdicts) },
  ].filter((section) => section.text !== '');
  const kept = [fit(head, REPORT_BYTES / 2)];
  const left: string[] = [];
  let used = bytes(kept[0]!);
  for (const section of sections) {
    const size = bytes(section.text) + 2;
    const room = REPORT_BYTES - RESERVED_BYTES - used;
    if (size <= room) {
      kept.push(section.text);
      used += size;
    } else if (section.title === 'effects' && room > RESERVED_BYTES) {
      // What a reader came for is cut rather than left out.
      const cut = fit(section.text, room - 2);
      kept.push(cut);
      used += bytes(cut) + 2;
      left.push('the rest of the effects');
    } else left.push(section.title);
  }
  if (left.length > 0)
    kept.push(
      fit(
        `Left out for length, see ${view.url}: ${summed(left)
          .map((name) => code(name))
          .join(', ')}.`,
        RESERVED_BYTES - 100,
      ),
    );
  return `${kept.join('\n\n')}\n`;
}

/** Titles that differ in what they are of only, such as `pairs of b60, story`, are counted where there are more than three. */
function summed(titles: readonly string[]): string[] {
  const kindOf = (name: string): string => /^(pairs|lines) of /.exec(name)?.[1] ?? name;
  return [...new Set(titles.map(kindOf))].flatMap((kind) => {
    const own = titles.filter((name) => kindOf(name) === kind);
    return own.length > 3 ? [`${kind} of ${own.length} tables, from ${own[0]!.slice(kind.length + 4)} on`] : own;
  });
}

function title(view: RunView): string {
  const baseline = view.arms[0];
  const candidates = candidatesOf(view);
  const state = view.done ? '' : '\n\n**The run is not done; what follows is what is in so far.**';
  const against = candidates.length === 0 ? '' : `${candidates.map((arm) => code(arm.label)).join(', ')} against `;
  return `### fleet [${view.run}](${view.url}): ${against}${code(baseline?.label ?? '')}${state}`;
}

function importedNote(view: RunView): string {
  if (view.imported === undefined) return '';
  const { kind, at, sha256 } = view.imported;
  const what =
    kind === 'receipt'
      ? 'a receipt of another coordinator, whose figures follow from its raw files'
      : 'bare engine records: **no lock, no sealed rule, no head recorded**';
  return `**Imported** ${at} from ${what} (SHA-256 ${code(sha256)}). Read-only.`;
}

/** That the run is an A/A calibration, and what it gave. */
function calibratedNote(view: RunView): string {
  if (!view.calibrates) return '';
  const rows = (view.calibrated ?? []).map(({ device, evidence, suite, case: name, at, driver, baselineMs, floor, falseVerdicts }) => [
    device,
    marked(evidence),
    code(`${suite}/${name}`),
    `${percent(floor.percent)} of ${floor.pairs} pairs${marks(view, `${device}/${suite}/${name}/calibration/floor`)}`,
    share(falseVerdicts.simulated),
    share(falseVerdicts.counted),
    `${at.slice(0, 10)}, ${baselineMs.length} pairs`,
    code(driver),
  ]);
  const what = '**A/A calibration**: both arms are one head. It is about the device, and says nothing about any change.';
  return [what, table(['device', 'evidence', 'case', 'A/A floor', 'rule met, simulated', 'rule met, measured', 'measured', 'driver'], 'lllrrrll', rows)]
    .filter(Boolean)
    .join('\n\n');
}

function verdictTable(view: RunView): string {
  const rows = view.jobs.flatMap((job) =>
    job.verdicts.length === 0
      ? [[job.device, job.evidence, job.suite, '–', `*${job.state}*`, code(job.note)]]
      : job.verdicts.map((verdict, at) => [
          verdict.device,
          marked(verdict.evidence),
          verdict.suite,
          code(verdict.candidate),
          `${view.calibrates ? `A/A: ${verdict.verdict}` : `**${verdict.verdict}**`}${marks(view, `${verdictName(job, at)}/verdict`)}`,
          `${code(verdict.reason, 600)}${marks(view, `${verdictName(job, at)}/reason`)}`,
        ]),
  );
  return table(['device', 'evidence', 'suite', 'candidate', 'verdict', 'reason'], 'llllll', rows);
}

const marked = (evidence: JobView['evidence']): string => (evidence === 'software' ? '**software**' : 'gpu');

function evidenceNote(view: RunView): string {
  const software = [...new Set(view.jobs.filter((job) => job.evidence === 'software').map((job) => job.device))];
  return software.length === 0
    ? ''
    : `**software**: ${software.join(', ')} ran a CPU Vulkan driver. That is no GPU evidence: it shows nothing about correctness or speed on any GPU.`;
}

function heads(view: RunView): string {
  const rows = view.arms.map((arm, i) => [
    i === 0 ? 'baseline' : i === view.mergeBase ? 'merge base' : 'candidate',
    code(arm.label),
    code(arm.head.slice(0, 12)),
    code(arm.tree.slice(0, 12)),
    code(arm.subject, 120),
  ]);
  const devices = new Map(view.jobs.map((job) => [job.device, [job.device, code(job.adapter), marked(job.evidence)]]));
  return [table(['arm', 'as written', 'commit', 'tree', 'subject'], 'lllll', rows), table(['device', 'adapter', 'evidence'], 'lll', [...devices.values()])]
    .filter(Boolean)
    .join('\n\n');
}

function sealText(view: RunView): string {
  const { rule, seal, forecast } = view;
  const expected = forecast ? ` Forecast, sealed with it: ${code(forecast.text)}.` : '';
  const order = view.seed === undefined ? '' : `, order of legs by seed ${view.seed}`;
  const broken = seal.broken ? `**The run is not what was sealed: ${code(seal.broken)}. No verdict holds.**\n\n` : '';
  const added = view.extends
    ? ` These pairs were added to the ${view.extends.pairs} of run ${view.extends.run} and are judged with them; p does not account for the look in between.`
    : '';
  return `${broken}Rule, sealed ${seal.at} as ${code(seal.sha256)}: ${code(rule.text)}, ${view.pairs} pairs a case${order}.${expected}${added}`;
}

function coverage(view: RunView): string {
  const count = (status: string): number => view.coverage.filter((cell) => cell.status === status).length;
  const total = view.coverage.length - count('not-asked');
  const left = [...new Set(view.coverage.filter((cell) => cell.status === 'not-asked').map((cell) => `${cell.device} ${cell.suite}`))];
  const notAsked = left.length === 0 ? '' : ` Not asked for: ${code(left.join(', '), 1000)}.`;
  return `Coverage: ${count('measured')} of ${total} device × suite × arm cells measured, ${count('void')} void, ${count('pending')} pending, ${count('not-run')} not run.${notAsked}`;
}

/** More gaps than this are counted, not listed. */
const GAPS_LISTED = 100;

function gapTable(view: RunView): string {
  const gaps = view.coverage.filter((cell) => cell.status !== 'measured' && cell.status !== 'not-asked');
  const rows = gaps.slice(0, GAPS_LISTED).map((cell) => [cell.device, cell.suite, code(cell.arm), cell.status, code(cell.note)]);
  const more = gaps.length > GAPS_LISTED ? `\n\nand ${gaps.length - GAPS_LISTED} more, see ${view.url}` : '';
  return `${table(['not covered: device', 'suite', 'arm', 'status', 'why'], 'lllll', rows)}${more}`;
}

function effects(view: RunView, named: readonly Named[]): string {
  const verdicts = named.map(([, verdict]) => verdict);
  const rows = named.flatMap(([name, verdict]) =>
    verdict.effects.map((effect) => {
      const mark = (...fields: (keyof Effect)[]): string => marks(view, ...fields.map((field) => `${name}/${effect.case}/${field}`));
      const interval =
        effect.interval === null
          ? ''
          : ` (${percent(effect.interval.low)} to ${percent(effect.interval.high)}, ${number(effect.interval.confidence * 100, 1)} %)`;
      const twoSided = effect.signFlipTwoSidedP === undefined ? '' : `; two-sided ${number(effect.signFlipTwoSidedP, 4)}`;
      const without = effect.medianWithoutFlaggedPercent === null ? '–' : percent(effect.medianWithoutFlaggedPercent);
      return [
        verdict.device,
        marked(verdict.evidence),
        code(verdict.candidate),
        `${code(effect.case)}${mark('metric', 'ruleMet', 'ruleNote', 'everyPairPositive', 'order', 'modes', 'morePairs')}`,
        String(effect.pairs.length),
        `${percent(effect.medianPercent)}${mark('medianPercent')}`,
        `${percent(effect.minPercent)} to ${percent(effect.maxPercent)}${mark('minPercent', 'maxPercent')}`,
        `${percent(effect.hodgesLehmannPercent)}${interval}${mark('hodgesLehmannPercent', 'interval')}`,
        `${number(effect.signFlipP, 4)} (least ${number(smallestP(effect.pairs.length), 4)})${twoSided}${mark('signFlipP', 'smallestP', 'signFlipTwoSidedP')}`,
        `${without}${mark('medianWithoutFlaggedPercent')}`,
      ];
    }),
  );
  const text = table(
    ['device', 'evidence', 'candidate', 'case', 'pairs', 'median gain', 'range', 'Hodges–Lehmann', 'sign-flip p, one-sided', 'median without flagged'],
    'llllrrrrrr',
    rows,
  );
  if (text === '') return '';
  const floors = [
    ...new Set(
      verdicts
        .filter((verdict) => verdict.effects.length > 0)
        .map((verdict) => `${verdict.device}: ${verdict.calibrations === undefined ? verdict.calibration : code(verdict.calibration, 2000)}`),
    ),
  ];
  const besides = verdicts.flatMap((verdict) =>
    verdict.effects.flatMap((effect) => beside(effect, pooledOf(view, verdict, effect)).map((note) => `${verdict.device}, ${code(effect.case)}: ${note}`)),
  );
  const notes = [`${floors.join('; ')}.`, ...besides.map((note) => `- ${note}`)].join('\n');
  return `Gain = (baseline − candidate) / baseline of each pair; positive is faster.\n\n${text}\n\n${notes}`;
}

const share = ({ hits, of }: { hits: number; of: number }): string => `${hits} of ${of}`;

function pooledOf(view: RunView, verdict: Verdict, effect: Effect): PooledModes | undefined {
  return view.pooledModes?.find(
    (item) => item.device === verdict.device && item.suite === verdict.suite && item.case === effect.case && view.arms[item.arm]?.label === verdict.candidate,
  );
}

/** Order, modes and pairs still needed: sentences, only where there is something to say. */
function beside(effect: Effect, pooled: PooledModes | undefined): string[] {
  const notes: string[] = [];
  if (effect.order) notes.push(`second place within a pair costs ${percent(effect.order.secondSlowerPercent)} (p ${number(effect.order.p, 3)})`);
  const { modes, morePairs } = effect;
  if (modes && modes.baseline.hits + modes.candidate.hits > 0) {
    notes.push(
      `legs of another mode: baseline ${share(modes.baseline)}, candidate ${share(modes.candidate)} (Fisher p ${number(modes.fisherP, 3)}, two-sided)`,
    );
  }
  if (pooled !== undefined && pooled.runs > 1) {
    const more = pooled.moreLegs === null ? '' : `; ${pooled.moreLegs} more legs give 80 % odds of p ≤ 0.05`;
    notes.push(
      `over all ${pooled.runs} runs of these trees: baseline ${share(pooled.baseline)}, candidate ${share(pooled.candidate)} (Fisher p ${number(pooled.fisherP, 3)}${more})`,
    );
  }
  if (morePairs) notes.push(`${morePairs} more pairs give 80 % odds of p ≤ 0.05, if gains go on as these`);
  return notes;
}

function forecasts(view: RunView, named: readonly Named[]): string {
  const rows = named.flatMap(([name, verdict]) =>
    (verdict.forecasts ?? []).map((score, at) => [
      verdict.device,
      code(verdict.candidate),
      code(score.case),
      `${percent(score.lowPercent)} to ${percent(score.highPercent)}`,
      score.confidencePercent === null ? '–' : `${number(score.confidencePercent, 1)} %`,
      `${percent(score.medianPercent)}${marks(view, `${name}/forecast-${at + 1}`, `${name}/${score.case}/medianPercent`)}`,
      score.hit ? 'hit' : `**missed** by ${number(Math.abs(score.missPercent), 2)} points`,
    ]),
  );
  return table(['device', 'candidate', 'case', 'forecast', 'confidence', 'median gain', 'outcome'], 'lllrrrl', rows);
}

function identities(view: RunView, named: readonly Named[]): string {
  const digest = (value: string | null): string => (value === null ? '–' : code(value.slice(0, 12)));
  const rows = named.flatMap(([name, verdict]) =>
    verdict.identities.map((item) => [
      verdict.device,
      `${code(item.case)}${marks(view, `${name}/${item.case}/identity`)}`,
      `${item.status === 'same' ? 'same' : `**${item.status}**`}${item.logits === undefined ? '' : ', **agent-attested**'}`,
      digest(item.baselineDigest),
      digest(item.candidateDigest),
      item.firstDifferingStep === null ? '–' : String(item.firstDifferingStep),
      item.pinnedIdsMatch === null ? 'none pinned' : item.pinnedIdsMatch ? 'met' : '**missed**',
      code(item.note),
    ]),
  );
  return table(['device', 'case', 'output', 'baseline digest', 'candidate digest', 'first differing step', 'pinned ids', 'note'], 'lllllrll', rows);
}

function contract(view: RunView, named: readonly Named[]): string {
  const rows = named.flatMap(([name, verdict]) =>
    verdict.contract
      .filter((row) => row.status !== 'same')
      .map((row) => [
        verdict.device,
        `${code(row.kernel)}${marks(view, `${name}/contract/${row.kernel}`)}`,
        `**${row.status}**`,
        code(row.baseline),
        code(row.candidate),
        code(row.note),
      ]),
  );
  return table(['device', 'kernel or control', 'contract', 'baseline', 'candidate', 'note'], 'llllll', rows);
}

function pairs(view: RunView, name: string, verdict: Verdict, effect: Effect): string {
  const rows = effect.pairs.map((row) => {
    const mark = (...fields: (keyof typeof row)[]): string => marks(view, ...fields.map((field) => `${pairName(name, effect.case, row.pair)}/${field}`));
    return [
      String(row.pair),
      `${row.order}${mark('order')}`,
      `${row.baselineLeg}, ${row.candidateLeg}${mark('baselineLeg', 'candidateLeg')}`,
      `${number(row.baselineMs, 1)}${mark('baselineMs')}`,
      `${number(row.candidateMs, 1)}${mark('candidateMs')}`,
      `${percent(row.gainPercent)}${mark('gainPercent')}`,
      [...row.flags, ...(row.machine ?? []).map((text) => code(text))].join('; ') || '–',
    ];
  });
  for (const { pair, baselineLeg, candidateLeg, reason } of effect.voidPairs ?? []) {
    const mark = marks(view, ...['reason', 'baselineLeg', 'candidateLeg'].map((field) => `${pairName(name, effect.case, pair)}/${field}`));
    rows.push([String(pair), '–', `${baselineLeg}, ${candidateLeg}`, '–', '–', '–', `void${mark}: ${code(reason)}`]);
  }
  const text = table(['pair', 'order', 'legs (baseline, candidate)', 'baseline ms', 'candidate ms', 'gain', 'flags'], 'lllrrrl', rows);
  return `<details><summary>Pairs of ${verdict.device} (${verdict.evidence}), ${effect.case}</summary>\n\nTimed: ${code(effect.metric)}\n\n${text}\n\n</details>`;
}

function lines(view: RunView, name: string, verdict: Verdict): string {
  if (verdict.lines.length === 0) return '';
  const masked = [...new Set(verdict.lines.flatMap((row) => row.masked))];
  const equal = verdict.lines.filter((row) => row.status === 'equal');
  const rows = verdict.lines.map((row, at) => [
    `${code(row.case)}${marks(view, `${name}/line-${at + 1}`)}`,
    row.status === 'equal' ? 'equal' : `**${row.status}**`,
    row.baseline === null ? '–' : code(row.baseline),
    row.status === 'equal' ? '(same)' : row.candidate === null ? '–' : code(row.candidate),
  ]);
  const text = table(['case', 'line', 'baseline', 'candidate'], 'llll', rows);
  const names = masked.length === 0 ? 'no field masked' : `masked: ${masked.map((field) => code(field)).join(', ')}`;
  return `<details><summary>Lines of ${verdict.device} (${verdict.evidence}), ${verdict.suite}: ${equal.length} of ${verdict.lines.length} equal</summary>\n\n${names}\n\n${text}\n\n</details>`;
}

function provenance(view: RunView, verdicts: readonly Verdict[]): string {
  const rows = verdicts.map((verdict) => [verdict.device, verdict.suite, code(verdict.candidate), code(verdict.computedFrom)]);
  const from = table(['device', 'suite', 'candidate', 'computed from (SHA-256)'], 'llll', rows);
  return [`Submitted ${view.submittedAt}. Every figure is rendered from stored records of ${view.url}; none is typed by hand.`, from]
    .filter(Boolean)
    .join('\n\n');
}
