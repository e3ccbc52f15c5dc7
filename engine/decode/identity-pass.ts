/** Pass 1: what the model computes. Every logits row comes back and is hashed; nothing is timed. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { EngineBroken, EngineUsage } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Stream } from '../gpu/stream.ts';
import type { Decoder } from './decoder.ts';

export interface Identity {
  readonly ids: number[];
  /** SHA-256 over all rows as little-endian float32, in step order. */
  readonly digest: string;
  readonly stepDigests: string[];
  /** The device's checksum of each row, two words. */
  readonly checksums: string[];
}

/**
 * Runs pass 1.
 * @param logitsFile where all rows are written, little-endian float32; row 0 is the prompt's last position.
 * @throws EngineBroken when a logit is not finite: an argmax over it would mean nothing.
 */
export async function identityPass(
  gpu: Gpu,
  stream: Stream,
  decoder: Decoder,
  steps: number,
  vocab: number,
  logitsFile: string | undefined,
): Promise<Identity> {
  const rowBytes = vocab * 4;
  const staging = gpu.device.createBuffer({ label: 'identity readback', size: rowBytes + 24, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  const file = logitsFile === undefined ? undefined : openLogits(logitsFile);
  const whole = createHash('sha256');
  const identity = { ids: [] as number[], stepDigests: [] as string[], checksums: [] as string[] };
  const { logits, result, checksum } = decoder.outputs;
  await stream.holding([staging], async () => {
    try {
      decoder.reset(stream);
      for (let step = 0; step < steps; step++) {
        if (step === 0) decoder.recordPrompt(stream);
        else decoder.recordToken(stream, step);
        stream.copy(logits, 0, staging, 0, rowBytes);
        stream.copy(result, 0, staging, rowBytes, 16);
        stream.copy(checksum, 0, staging, rowBytes + 16, 8);
        stream.submit('token');
        const data = await stream.map(staging, rowBytes + 24);
        const row = new Uint8Array(data, 0, rowBytes);
        identity.ids.push(chosenId(new Uint32Array(data, rowBytes, 4), step));
        whole.update(row);
        identity.stepDigests.push(createHash('sha256').update(row).digest('hex'));
        identity.checksums.push(new Uint32Array(data, rowBytes + 16, 2).join(':'));
        if (file !== undefined) writeSync(file, row);
      }
    } finally {
      if (file !== undefined) closeSync(file);
    }
  });
  return { ...identity, digest: whole.digest('hex') };
}

/** @throws EngineBroken naming the first logit that is not finite. */
export function chosenId(result: Uint32Array, step: number): number {
  const [id, finite, first] = result;
  if (finite !== 1) throw new EngineBroken(`the logits of step ${step} are not all finite: the first bad one is of id ${first}`);
  return id!;
}

function openLogits(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (cause) {
    throw new EngineUsage(`--logits ${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
