/** What `npm run bench:gpu` makes of its steps' records: figures of each prompt against the device's own ceiling, and lines for people. */
import { profileLines } from '../decode/profile-pass.ts';
import type { DecodeRecord, TuneRecord } from '../protocol.ts';
import { choiceLine } from '../tune/choices.ts';
import { ranLine } from '../decode/ran.ts';
import { recordOf, type StepResult } from './engine-step.ts';

/** Figures of one prompt. */
export interface PromptFigures {
  readonly promptTokens: number;
  readonly steps: number;
  readonly decodeTokensPerS: number;
  /** Milliseconds a token: the mean, and what the host saw from one id to the next. */
  readonly msPerToken: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly prefillMs: number;
  readonly prefillTokensPerS: number;
  /** Milliseconds that reading every weight once takes at the read ceiling; null without a probe. */
  readonly weightReadMs: number | null;
  /** weightReadMs / msPerToken. */
  readonly shareOfCeiling: number | null;
  readonly ran: DecodeRecord['ran'] | null;
  readonly digest: string;
  readonly checksumsMatch: boolean;
  readonly memory: DecodeRecord['memory'] | null;
}

/** The whole of `--json`. Steps that failed leave null where their figures would be. */
export interface GpuReport {
  readonly model: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly context: number;
  readonly adapter: string | null;
  readonly driver: string | null;
  readonly evidence: string | null;
  readonly readCeilingGbPerS: number | null;
  /** Shapes that tune measured, and the variant of each; null where it did not run. */
  readonly tuned: TuneRecord['choices'] | null;
  readonly prompts: readonly PromptFigures[];
  readonly dispatchesPerToken: number | null;
  readonly dispatches: Readonly<Record<string, number>> | null;
  readonly submitsPerToken: number | null;
  readonly bytesReadPerToken: number | null;
  readonly profiles: readonly { readonly promptTokens: number; readonly profile: NonNullable<DecodeRecord['profile']> }[];
  readonly steps: readonly {
    readonly name: string;
    readonly command: string;
    readonly seconds: number;
    readonly status: number;
    readonly failure: string | null;
  }[];
}

const total = (of: Readonly<Record<string, number>>): number => Object.values(of).reduce((sum, count) => sum + count, 0);

/** Figures of a decode record. */
export function figuresOf({ prompt, steps, timing, memory, ran, digest, checksumsMatch }: DecodeRecord, readCeilingGbPerS: number | null): PromptFigures {
  const msPerToken = timing.decodeMs.total / Math.max(1, timing.decodeMs.steps);
  // The head is the embedding table, so that a token reads every weight.
  const weightReadMs = readCeilingGbPerS === null || memory === undefined ? null : memory.weightBytes / readCeilingGbPerS / 1e6;
  return {
    promptTokens: prompt.tokens,
    steps,
    decodeTokensPerS: 1000 / msPerToken,
    msPerToken,
    p50Ms: timing.decodeMs.p50,
    p90Ms: timing.decodeMs.p90,
    prefillMs: timing.prefillMs,
    prefillTokensPerS: (1000 * prompt.tokens) / timing.prefillMs,
    weightReadMs,
    shareOfCeiling: weightReadMs === null ? null : weightReadMs / msPerToken,
    ran: ran ?? null,
    digest,
    checksumsMatch,
    memory: memory ?? null,
  };
}

/** The report of steps, whichever of them have figures. */
export function reportOf(model: string, settings: Readonly<Record<string, string>>, context: number, steps: readonly StepResult[]): GpuReport {
  const whole = steps.filter(({ failure }) => failure === null);
  const adapter = whole.map((step) => recordOf(step, 'adapter')).find((record) => record !== undefined);
  const ceiling = whole.map((step) => recordOf(step, 'probe')).find((record) => record !== undefined)?.readCeilingGbPerS ?? null;
  const perToken = whole.map((step) => recordOf(step, 'two-length')).find((record) => record !== undefined)?.perToken;
  const decodes = whole.flatMap((step) => recordOf(step, 'decode') ?? []);
  return {
    model,
    settings,
    context,
    adapter: adapter?.name ?? null,
    driver: adapter?.driver ?? null,
    evidence: adapter?.evidence ?? null,
    readCeilingGbPerS: ceiling,
    tuned: whole.map((step) => recordOf(step, 'tune')).find((record) => record !== undefined)?.choices ?? null,
    prompts: decodes.filter(({ profile }) => !profile).map((record) => figuresOf(record, ceiling)),
    dispatchesPerToken: perToken ? total(perToken.dispatches) : null,
    dispatches: perToken?.dispatches ?? null,
    submitsPerToken: perToken ? total(perToken.submits) : null,
    bytesReadPerToken: perToken?.bytesReadBack ?? null,
    profiles: decodes.flatMap(({ prompt, profile }) => (profile ? [{ promptTokens: prompt.tokens, profile }] : [])),
    steps: steps.map(({ name, command, seconds, status, failure }) => ({ name, command, seconds, status, failure })),
  };
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** The report for people. */
export function reportLines(report: GpuReport): string[] {
  const { prompts, profiles } = report;
  const settings = Object.entries(report.settings).map(([key, value]) => `${key}=${value}`);
  const share = (value: number | null): string => (value === null ? '–' : `${(100 * value).toFixed(1)} %`);
  const memory = prompts.findLast((figures) => figures.memory !== null)?.memory;
  return [
    `${report.model} on ${report.adapter ?? 'no adapter'} (${report.evidence ?? 'no evidence'}), driver ${report.driver ?? 'unknown'}; context ${report.context}; ${settings.join(',')}`,
    `read ceiling ${report.readCeilingGbPerS === null ? 'not measured' : `${report.readCeilingGbPerS.toFixed(1)} GB/s; every weight once: ${prompts[0]?.weightReadMs?.toFixed(3) ?? '–'} ms`}`,
    ['prompt', 'decode tok/s', 'ms a token', 'p50', 'p90', 'of ceiling', 'prefill ms', 'prefill tok/s'].map((head) => head.padStart(13)).join(''),
    ...prompts.map((row) =>
      [
        String(row.promptTokens),
        row.decodeTokensPerS.toFixed(1),
        row.msPerToken.toFixed(3),
        row.p50Ms.toFixed(3),
        row.p90Ms.toFixed(3),
        share(row.shareOfCeiling),
        row.prefillMs.toFixed(2),
        row.prefillTokensPerS.toFixed(0),
      ]
        .map((cell) => cell.padStart(13))
        .join(''),
    ),
    ...prompts
      .filter(({ checksumsMatch }) => !checksumsMatch)
      .map(({ promptTokens }) => `CHECKSUMS DIFFER between the two passes at ${promptTokens} tokens of prompt`),
    ...(report.dispatchesPerToken === null
      ? []
      : [`a token: ${report.dispatchesPerToken} dispatches, ${report.submitsPerToken} submits, ${report.bytesReadPerToken} bytes read back`]),
    ...(memory
      ? [
          `GPU buffers ${mb(memory.residentBytes)} (weights ${mb(memory.weightBytes)}), at most ${mb(memory.peakBytes)}; ` +
            `VmHWM ${memory.afterLoadKiB === null ? 'unknown' : `${mb((memory.beforeLoadKiB ?? 0) * 1024)} before loading, ${mb(memory.afterLoadKiB * 1024)} after`}`,
        ]
      : []),
    ...(prompts[0]?.ran ? [ranLine(prompts[0].ran)] : []),
    ...(report.tuned ?? []).map((choice) => `tuned: ${choiceLine(choice)}`),
    ...profiles.flatMap(({ promptTokens, profile }) => [`profile at ${promptTokens} tokens of prompt`, ...profileLines(profile).map((line) => `  ${line}`)]),
    ...report.steps.map(
      ({ name, seconds, failure, command }) => `${name}: ${seconds.toFixed(1)} s${failure === null ? '' : `  FAILED: ${failure}; run it alone: ${command}`}`,
    ),
  ];
}
