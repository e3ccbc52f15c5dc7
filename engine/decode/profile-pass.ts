/**
 * The profiling mode: GPU time by kernel, from the ends of passes of one dispatch each, and host time a token. A pass a dispatch costs
 * time of its own and forbids overlap, so that the sum exceeds what a timed token takes: these figures are shares, and never mix with
 * the timed pass's.
 */
import { EngineBroken, EngineRefused, EngineUsage } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { hasTimestamps, Stamps, type Stamp } from '../gpu/stamps.ts';
import type { Stream } from '../gpu/stream.ts';
import { openBench, readCeiling } from '../probe/probe.ts';
import type { DecodeRecord } from '../protocol.ts';
import { median } from '../statistics.ts';
import type { Decoder } from './decoder.ts';
import { chosenId } from './identity-pass.ts';

export type Profile = NonNullable<DecodeRecord['profile']>;
type Row = Profile['token'][number];

interface Timed {
  readonly dispatch: string;
  readonly dispatches: number;
  readonly gpuMs: number;
  readonly boundBytes: number;
}

/** Tokens that are profiled; each row's time is their median. */
const MOST_TOKENS = 16;

/**
 * Time by label of one stamped run, whose first stamp is where it starts.
 * @returns dispatches and milliseconds by label, in the order of first appearance.
 */
export function timeByLabel([start, ...passes]: readonly Stamp[]): Timed[] {
  const rows = new Map<string, { dispatches: number; boundBytes: number; ns: bigint }>();
  let before = start?.ns ?? 0n;
  for (const { label, boundBytes, ns } of passes) {
    const row = rows.get(label) ?? { dispatches: 0, boundBytes: 0, ns: 0n };
    // Ends of passes that ran side by side may come in either order.
    const end = ns > before ? ns : before;
    rows.set(label, { dispatches: row.dispatches + 1, boundBytes: row.boundBytes + boundBytes, ns: row.ns + end - before });
    before = end;
  }
  return Array.from(rows, ([dispatch, { dispatches, boundBytes, ns }]) => ({ dispatch, dispatches, gpuMs: Number(ns) / 1e6, boundBytes }));
}

/** Rows with their share of a read ceiling in GB/s. */
export function withShares(rows: readonly Timed[], ceiling: number): Row[] {
  return rows.map((row) => {
    const share = row.gpuMs === 0 ? Infinity : row.boundBytes / row.gpuMs / 1e6 / ceiling;
    return { ...row, share: share <= 1 ? share : null };
  });
}

/** Each row's median over runs of the same dispatches. @throws EngineBroken when the runs differ in their dispatches. */
export function medianRows(runs: readonly (readonly Timed[])[]): Timed[] {
  const [first = []] = runs;
  const text = (rows: readonly Timed[]): string => rows.map(({ dispatch, dispatches }) => `${dispatches} ${dispatch}`).join(', ');
  for (const run of runs) if (text(run) !== text(first)) throw new EngineBroken(`two profiled tokens differ: ${text(first)}; ${text(run)}`);
  return first.map((row, index) => ({ ...row, gpuMs: median(runs.map((run) => run[index]!.gpuMs)) }));
}

/**
 * Profiles the prompt and some tokens.
 * @param ids what decoding gives, so that what was profiled is shown to be the same work.
 * @throws EngineRefused on a device without timestamps; EngineUsage when there is no token to profile.
 */
export async function profilePass(gpu: Gpu, stream: Stream, decoder: Decoder, ids: readonly number[]): Promise<Profile> {
  if (!hasTimestamps(gpu)) throw new EngineRefused(`${gpu.adapter.name} has no timestamps to profile by`, 'decode without --profile');
  if (ids.length < 2) throw new EngineUsage('--profile needs --steps 2 or more: the first id is the prompt’s');
  const { bench, timestamps } = await openBench(gpu);
  const ceiling = await readCeiling(bench);
  bench.stamps?.destroy();
  const stamps = new Stamps(gpu);
  const stamped = async (record: () => void): Promise<Timed[]> => {
    stream.beginStamped(stamps, 'start');
    stream.stampEach(stamps);
    record();
    stream.stampEach(undefined);
    return timeByLabel(await stamps.read(stream));
  };
  const tokens = Math.min(MOST_TOKENS, ids.length - 1);
  decoder.reset(stream);
  const prompt = await stamped(() => decoder.recordPrompt(stream));
  const runs: Timed[][] = [];
  for (let step = 1; step <= tokens; step++) runs.push(await stamped(() => decoder.recordToken(stream, step)));
  const result = new Uint32Array(await stream.read(decoder.outputs.result, 0, 16));
  if (chosenId(result, tokens) !== ids[tokens]) throw new EngineBroken(`the profiled tokens end in id ${result[0]}, and decoding gave ${ids[tokens]}`);
  stamps.destroy();
  const hostMs = await hostTime(stream, decoder, tokens);
  const token = medianRows(runs);
  const sum = (rows: readonly Timed[]): number => rows.reduce((total, { gpuMs }) => total + gpuMs, 0);
  return {
    definition: `one pass a dispatch, times from the end of the pass before to its own end; median of ${tokens} tokens; not comparable with timing`,
    timestamps,
    readCeilingGbPerS: ceiling,
    tokens,
    prompt: withShares(prompt, ceiling),
    token: withShares(token, ceiling),
    promptGpuMs: sum(prompt),
    tokenGpuMs: sum(token),
    hostMs,
  };
}

/** Milliseconds that the host takes to record and submit a token as decoding does: one pass, no stamps. Median. */
async function hostTime(stream: Stream, decoder: Decoder, tokens: number): Promise<number> {
  const samples: number[] = [];
  decoder.reset(stream);
  decoder.recordPrompt(stream);
  stream.submit('token');
  for (let step = 1; step <= tokens; step++) {
    await stream.done();
    const start = performance.now();
    decoder.recordToken(stream, step);
    stream.submit('token');
    samples.push(performance.now() - start);
  }
  await stream.done();
  return median(samples);
}

/** The table for people: what costs most first. */
export function profileLines(profile: Profile): string[] {
  const { timestamps, tokenGpuMs, promptGpuMs, hostMs } = profile;
  const table = (rows: readonly Row[], total: number): string[] =>
    rows
      .toSorted((a, b) => b.gpuMs - a.gpuMs)
      .map(({ dispatch, dispatches, gpuMs, share }) => {
        const part = total === 0 ? 0 : (100 * gpuMs) / total;
        const ceiling = typeof share === 'number' ? `${(100 * share).toFixed(1)} %` : '–';
        return `${gpuMs.toFixed(4).padStart(10)} ms ${part.toFixed(1).padStart(5)} %  ${ceiling.padStart(7)} of ceiling  ${String(dispatches).padStart(4)} × ${((gpuMs * 1000) / dispatches).toFixed(2).padStart(8)} µs  ${dispatch}`;
      });
  return [
    `profile (${profile.definition})`,
    ...(timestamps.trusted ? [] : [`TIMESTAMPS ARE NOT TRUSTED: ${timestamps.why}`]),
    `read ceiling ${(profile.readCeilingGbPerS ?? 0).toFixed(1)} GB/s; shares of it count each byte that is bound once`,
    `prompt: GPU ${promptGpuMs.toFixed(3)} ms`,
    ...table(profile.prompt, promptGpuMs),
    `token: GPU ${tokenGpuMs.toFixed(3)} ms, host ${hostMs.toFixed(3)} ms`,
    ...table(profile.token, tokenGpuMs),
  ];
}
