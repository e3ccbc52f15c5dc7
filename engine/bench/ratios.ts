/**
 * What each habit of the engine is worth on a device, as ratios of two things measured in turn in one run: a figure of another machine or
 * of another minute would say less.
 */
import { fileURLToPath } from 'node:url';
import { contract as qmmContract } from '../../kernels/qmm-q4/qmm-q4.contract.ts';
import { Decoder } from '../decode/decoder.ts';
import { variantsOf } from '../decode/settings.ts';
import { timedPass } from '../decode/timed-pass.ts';
import type { Gpu } from '../gpu/device.ts';
import { Programs } from '../gpu/programs.ts';
import { Stream } from '../gpu/stream.ts';
import { Checkpoint } from '../model/checkpoint.ts';
import { readConfig } from '../model/config.ts';
import { loadWeights } from '../model/fill-weights.ts';
import { chainOf } from '../probe/dependent.ts';
import { median } from '../statistics.ts';
import { benchVariants } from './kernel.ts';
import { benchSubject } from './subject.ts';

export interface Ratio {
  readonly name: string;
  /** What the habit avoids, in milliseconds, and what it does instead. */
  readonly withoutMs: number;
  readonly withMs: number;
  /** withoutMs / withMs: above 1, the habit pays. */
  readonly ratio: number;
}

const ROUNDS = 5;
const DISPATCHES = 160;
const STEPS = 9;
const MODEL = fileURLToPath(new URL('../models/qwen3.5-tiny-books', import.meta.url));

/** Medians of two things done in turn. */
async function inTurn(name: string, without: () => Promise<number>, habit: () => Promise<number>): Promise<Ratio> {
  const [a, b]: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round++) {
    const [slow, fast] = [await without(), await habit()];
    // The first round warms up.
    if (round === 0) continue;
    a.push(slow);
    b.push(fast);
  }
  const [withoutMs, withMs] = [median(a), median(b)];
  return { name, withoutMs, withMs, ratio: withoutMs / withMs };
}

/** A chain of dependent dispatches: each submitted and waited for, against all of them in one pass of one submit. */
export async function batched(gpu: Gpu): Promise<Ratio> {
  const stream = new Stream(gpu);
  const { dispatches } = await chainOf(gpu, new Programs(gpu));
  const run = async (each: boolean): Promise<number> => {
    const start = performance.now();
    for (let index = 0; index < DISPATCHES; index++) {
      stream.record(dispatches[index % dispatches.length]!);
      if (!each) continue;
      stream.submit('timestamp');
      // Not the stream's own wait, which naps on a CPU driver: that is no part of a submit.
      await gpu.device.queue.onSubmittedWorkDone();
    }
    stream.submit('timestamp');
    await stream.done();
    return performance.now() - start;
  };
  return inTurn(
    `${DISPATCHES} dispatches: a submit each → one submit`,
    () => run(true),
    () => run(false),
  );
}

/** A token of the shipped model: every logits row read back and waited for, against the device feeding itself. */
export async function resident(gpu: Gpu, settings: Readonly<Record<string, string>>): Promise<Ratio> {
  const config = readConfig(MODEL);
  const checkpoint = Checkpoint.open(MODEL);
  try {
    const stream = new Stream(gpu);
    const weights = await loadWeights(gpu, stream, config, checkpoint);
    const decoder = await Decoder.create(gpu, config, weights, { prompt: [1, 2, 3, 4], context: 4 + STEPS, chunk: 64, ...variantsOf(settings) });
    const run = async (readback: boolean): Promise<number> => {
      const { decodeMs } = (await timedPass(gpu, stream, decoder, STEPS, config.vocab, readback)).timing;
      return decodeMs.total / decodeMs.steps;
    };
    return await inTurn(
      'a token of the tiny model: logits read back → 4 bytes read back, two tokens in flight',
      () => run(true),
      () => run(false),
    );
  } finally {
    checkpoint.close();
  }
}

/** One projection of one row, by the scalar and the vec4 variant. */
export async function vectorised(gpu: Gpu): Promise<Ratio> {
  const { variants } = await benchVariants(gpu, benchSubject(qmmContract, 'rows=1,n=512,k=2048'), ROUNDS);
  const ms = (name: string): number => variants.find(({ variant }) => variant === name)?.ms ?? NaN;
  return { name: 'qmm-q4 1×512×2048: scalar → vec4', withoutMs: ms('scalar'), withMs: ms('vec4'), ratio: ms('scalar') / ms('vec4') };
}
