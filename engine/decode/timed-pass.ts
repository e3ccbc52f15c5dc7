/**
 * Pass 2: how long it takes. Reads back what decoding needs, 4 bytes a token, through a ring of two slots: while the host
 * waits for one id the device already computes the next, which it feeds itself. Ids and checksums of every step are kept on
 * the device and compared with pass 1's afterwards, so what was timed is what was hashed.
 */
import type { Gpu } from '../gpu/device.ts';
import type { Stream, StreamCounters } from '../gpu/stream.ts';
import type { DecodeRecord } from '../protocol.ts';
import { percentile } from '../statistics.ts';
import type { Decoder } from './decoder.ts';
import { chosenId } from './identity-pass.ts';

const DEPTH = 2;

/** argmax result (4 words) and checksum (2 words) of one step in the device's log. */
const LOG_BYTES = 24;

export interface Timed {
  readonly ids: number[];
  readonly checksums: string[];
  readonly timing: Omit<DecodeRecord['timing'], 'loadMs'>;
  readonly counters: StreamCounters;
}

/** What was timed, its results as they lie in the device's log. */
export interface TimedRun {
  /** By step: argmax result (4 words), checksum (2 words). */
  readonly entries: readonly Uint32Array[];
  readonly timing: Timed['timing'];
  readonly counters: StreamCounters;
}

/**
 * Runs pass 2.
 * @param readback also read every logits row back inside the timed interval, waiting for each.
 * @throws EngineBroken when a step's logits are not all finite.
 */
export async function timedPass(gpu: Gpu, stream: Stream, decoder: Decoder, steps: number, vocab: number, readback: boolean): Promise<Timed> {
  const { entries, timing, counters } = await timedRun(gpu, stream, decoder, steps, vocab, readback);
  return {
    ids: entries.map((entry, step) => chosenId(entry.subarray(0, 4), step)),
    checksums: entries.map((entry) => entry.subarray(4).join(':')),
    timing,
    counters,
  };
}

/** Runs pass 2 and judges nothing: a device that computes nothing can be timed too. */
export async function timedRun(gpu: Gpu, stream: Stream, decoder: Decoder, steps: number, vocab: number, readback: boolean): Promise<TimedRun> {
  const slotBytes = readback ? vocab * 4 + 4 : 4;
  const staging = { size: slotBytes, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ };
  const slots = Array.from({ length: DEPTH }, (_, slot) => gpu.device.createBuffer({ label: `ring slot ${slot}`, ...staging }));
  const log = gpu.device.createBuffer({ label: 'step log', size: steps * LOG_BYTES, usage: GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
  return stream.holding([...slots, log], () => runSteps(stream, decoder, steps, vocab, readback, slots, log));
}

async function runSteps(
  stream: Stream,
  decoder: Decoder,
  steps: number,
  vocab: number,
  readback: boolean,
  slots: readonly GPUBuffer[],
  log: GPUBuffer,
): Promise<TimedRun> {
  const slotBytes = slots[0]!.size;
  const { logits, result, checksum } = decoder.outputs;

  /** Copies what a step leaves, submits it, and resolves once its id is on the host. */
  const finish = (step: number): Promise<unknown> => {
    const slot = slots[step % DEPTH]!;
    stream.copy(result, 0, slot, 0, 4);
    if (readback) stream.copy(logits, 0, slot, 4, vocab * 4);
    stream.copy(result, 0, log, step * LOG_BYTES, 16);
    stream.copy(checksum, 0, log, step * LOG_BYTES + 16, 8);
    stream.submit('token');
    return stream.map(slot, slotBytes);
  };

  decoder.reset(stream);
  await stream.done();
  stream.resetCounters();
  const start = performance.now();
  decoder.recordPrompt(stream);
  const arrivals: number[] = [];
  const depth = readback ? 1 : DEPTH;
  const inFlight: Promise<unknown>[] = [];
  const send = (step: number): void => {
    const arrival = finish(step);
    // Where an earlier one fails, this one is no longer waited for.
    arrival.catch(() => undefined);
    inFlight.push(arrival);
  };
  const arrive = async (): Promise<void> => {
    await inFlight.shift();
    arrivals.push(performance.now());
  };
  send(0);
  for (let step = 1; step < steps; step++) {
    // A token takes the id before it from the device, so it is recorded while the device computes; once an earlier one's slot is free, it is
    // only submitted. Recorded after the wait, 0.5 ms of host time stood between two tokens of 1 ms (H200).
    decoder.recordToken(stream, step);
    if (inFlight.length === depth) await arrive();
    send(step);
  }
  while (inFlight.length > 0) await arrive();
  const first = arrivals[0]!;
  const end = performance.now();

  const counters = stream.counters;
  stream.resetCounters();
  const words = new Uint32Array(await stream.read(log, 0, steps * LOG_BYTES));
  const entries = Array.from({ length: steps }, (_, step) => words.subarray(step * 6, step * 6 + 6));
  const stepMs = arrivals.slice(1).map((at, index) => at - arrivals[index]!);
  return {
    entries,
    counters,
    timing: {
      definition: `second run in the process: first prompt chunk submitted to last id on the host; ${readback ? 'every logits row read back, waiting for each' : '4 bytes read back a token, two tokens in flight'}`,
      logitsReadBack: readback,
      prefillMs: first - start,
      decodeMs: { steps: stepMs.length, total: end - first, p50: percentile(stepMs, 0.5), p90: percentile(stepMs, 0.9) },
      totalMs: end - start,
    },
  };
}
