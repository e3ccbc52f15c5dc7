/**
 * The profiling mode: GPU time by kernel, from the ends of passes of one dispatch each, and host time a token. A pass a dispatch costs
 * time of its own and forbids overlap, so that the sum exceeds what a timed token takes: these figures are shares, and never mix with
 * the timed pass's.
 */
import { EngineBroken, EngineRefused, EngineUsage } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { hasTimestamps, Stamps } from '../gpu/stamps.ts';
import type { Stream } from '../gpu/stream.ts';
import { openBench } from '../probe/probe.ts';
import type { DecodeRecord } from '../protocol.ts';
import { median } from '../statistics.ts';
import type { Decoder } from './decoder.ts';
import { chosenId } from './identity-pass.ts';

export type Profile = NonNullable<DecodeRecord['profile']>;
type Row = Profile['token'][number];

/** Tokens that are profiled; each row's time is their median. */
const MOST_TOKENS = 16;

/** A stamped pass: what it dispatched, and when it ended. */
export interface Stamped {
  readonly label: string;
  readonly ns: bigint;
}

/**
 * Time by label of one stamped run, whose first stamp is where it starts.
 * @returns dispatches and milliseconds by label, in the order of first appearance.
 */
export function timeByLabel([start, ...passes]: readonly Stamped[]): Row[] {
  const rows = new Map<string, { dispatches: number; ns: bigint }>();
  let before = start?.ns ?? 0n;
  for (const { label, ns } of passes) {
    const row = rows.get(label) ?? { dispatches: 0, ns: 0n };
    // Ends of passes that ran side by side may come in either order.
    const end = ns > before ? ns : before;
    rows.set(label, { dispatches: row.dispatches + 1, ns: row.ns + end - before });
    before = end;
  }
  return Array.from(rows, ([dispatch, { dispatches, ns }]) => ({ dispatch, dispatches, gpuMs: Number(ns) / 1e6 }));
}

/** Each row's median over runs of the same dispatches. @throws EngineBroken when the runs differ in their dispatches. */
export function medianRows(runs: readonly (readonly Row[])[]): Row[] {
  const [first = []] = runs;
  const text = (rows: readonly Row[]): string => rows.map(({ dispatch, dispatches }) => `${dispatches} ${dispatch}`).join(', ');
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
  const { timestamps } = await openBench(gpu);
  const stamps = new Stamps(gpu);
  const stamped = async (record: () => void): Promise<Row[]> => {
    stream.beginStamped(stamps, 'start');
    stream.stampEach(stamps);
    record();
    stream.stampEach(undefined);
    return timeByLabel(await stamps.read(stream));
  };
  const tokens = Math.min(MOST_TOKENS, ids.length - 1);
  decoder.reset(stream);
  const prompt = await stamped(() => decoder.recordPrompt(stream));
  const runs: Row[][] = [];
  for (let step = 1; step <= tokens; step++) runs.push(await stamped(() => decoder.recordToken(stream, step)));
  const result = new Uint32Array(await stream.read(decoder.outputs.result, 0, 16));
  if (chosenId(result, tokens) !== ids[tokens]) throw new EngineBroken(`the profiled tokens end in id ${result[0]}, and decoding gave ${ids[tokens]}`);
  stamps.destroy();
  const hostMs = await hostTime(stream, decoder, tokens);
  const token = medianRows(runs);
  const sum = (rows: readonly Row[]): number => rows.reduce((total, { gpuMs }) => total + gpuMs, 0);
  return {
    definition: `one pass a dispatch, times from the end of the pass before to its own end; median of ${tokens} tokens; not comparable with timing`,
    timestamps,
    tokens,
    prompt,
    token,
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
      .map(({ dispatch, dispatches, gpuMs }) => {
        const share = total === 0 ? 0 : (100 * gpuMs) / total;
        return `${gpuMs.toFixed(4).padStart(10)} ms ${share.toFixed(1).padStart(5)} %  ${String(dispatches).padStart(4)} × ${((gpuMs * 1000) / dispatches).toFixed(2).padStart(8)} µs  ${dispatch}`;
      });
  return [
    `profile (${profile.definition})`,
    ...(timestamps.trusted ? [] : [`TIMESTAMPS ARE NOT TRUSTED: ${timestamps.why}`]),
    `prompt: GPU ${promptGpuMs.toFixed(3)} ms`,
    ...table(profile.prompt, promptGpuMs),
    `token: GPU ${tokenGpuMs.toFixed(3)} ms, host ${hostMs.toFixed(3)} ms`,
    ...table(profile.token, tokenGpuMs),
  ];
}
