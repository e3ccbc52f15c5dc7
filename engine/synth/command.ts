/**
 * `synth`: writes a random checkpoint in the layout that decode reads, so that real dimensions can be decoded without a download. The
 * same seed gives the same bytes; each tensor has its own seed, and is drawn, quantised and written some rows at a time.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { caseSeed, Random } from '../../kernels/random.ts';
import { EngineRefused, EngineUsage } from '../errors.ts';
import { readConfig } from '../model/config.ts';
import { tensorsOf, weightSpecs, type QuantisedSpec, type VectorSpec, type WeightSpec } from '../model/tensors.ts';
import type { Session } from '../session.ts';
import { configJson, SYNTH_NAMES, type SynthName } from './configs.ts';
import { matrixDraw, vectorDraw } from './draw.ts';
import { quantise, toBf16 } from './quantise.ts';
import { SafetensorsWriter, type NewTensor } from './safetensors-writer.ts';

/** Weights in memory at a time: 4 MiB as float32. */
const BLOCK = 1 << 20;

export interface SynthOptions {
  readonly config: string;
  readonly seed: number;
  readonly out: string;
}

/**
 * Runs `synth`.
 * @throws EngineUsage for an unknown config; EngineRefused when `out` is no new or empty folder.
 */
export async function synthCommand(session: Session, { config, seed, out }: SynthOptions): Promise<void> {
  const name = SYNTH_NAMES.find((known) => known === config);
  if (!name) throw new EngineUsage(`--config ${config}: there is ${SYNTH_NAMES.join(', ')}`);
  makeFolder(out);
  const tensors = writeCheckpoint(name, seed, out);
  const path = join(out, 'model.safetensors');
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 4 << 20 }), hash);
  session.print(`${path}: ${name}, seed ${seed}, ${tensors} tensors, ${statSync(path).size} bytes, sha256 ${hash.digest('hex')}`);
}

/** Never writes into a folder that holds something: it may be somebody's model. */
function makeFolder(out: string): void {
  if (existsSync(out) && (!statSync(out).isDirectory() || readdirSync(out).length > 0))
    throw new EngineRefused(`--out ${out} is there already and is no empty folder`, 'name a new folder, or remove that one');
  try {
    mkdirSync(out, { recursive: true });
  } catch (cause) {
    throw new EngineRefused(`--out ${out} cannot be made: ${cause instanceof Error ? cause.message : String(cause)}`, 'name a folder that can be written', {
      cause,
    });
  }
}

/** Writes config.json and model.safetensors; the latter has its name only once it is whole. @returns the number of tensors. */
function writeCheckpoint(name: SynthName, seed: number, out: string): number {
  writeFileSync(join(out, 'config.json'), `${JSON.stringify(configJson(name), undefined, 2)}\n`);
  const specs = weightSpecs(readConfig(out));
  const tensors = specs.flatMap(newTensors);
  const partial = join(out, 'model.safetensors.partial');
  const writer = new SafetensorsWriter(partial, tensors);
  try {
    for (const spec of specs) {
      const random = new Random(caseSeed(seed, spec.name));
      if (spec.form === 'quantised') writeMatrix(writer, spec, random);
      else writeVector(writer, spec, random);
    }
    writer.finish();
    renameSync(partial, join(out, 'model.safetensors'));
  } finally {
    writer.close();
    rmSync(partial, { force: true });
  }
  return tensors.length;
}

/** A_log stays float32 in this layout; every other vector is bf16. */
function isFloat32(spec: VectorSpec): boolean {
  return spec.name.endsWith('.A_log');
}

function newTensors(spec: WeightSpec): NewTensor[] {
  return tensorsOf(spec).map(({ name, dtypes, shape }) => ({
    name,
    shape,
    dtype: spec.form === 'vector' && isFloat32(spec) ? 'F32' : dtypes[0]!,
  }));
}

function writeMatrix(writer: SafetensorsWriter, spec: QuantisedSpec, random: Random): void {
  const [codes, scales, biases] = tensorsOf(spec).map((tensor) => tensor.name) as [string, string, string];
  const draw = matrixDraw(spec);
  const blockRows = Math.min(spec.n, Math.max(1, Math.floor(BLOCK / spec.k)));
  const most = blockRows * spec.k;
  const [weights, words, halves] = [new Float32Array(most), new Uint32Array(most / 8), new Uint16Array(most / 32)];
  for (let row = 0; row < spec.n; row += blockRows) {
    const count = Math.min(blockRows, spec.n - row) * spec.k;
    const block = weights.subarray(0, count);
    const rows = { codes: words.subarray(0, count / 8), scales: halves.subarray(0, count / 64), biases: halves.subarray(most / 64, most / 64 + count / 64) };
    draw(random, block);
    quantise(block, rows);
    writer.append(codes, bytesOf(rows.codes));
    writer.append(scales, bytesOf(rows.scales));
    writer.append(biases, bytesOf(rows.biases));
  }
}

function writeVector(writer: SafetensorsWriter, spec: VectorSpec, random: Random): void {
  const draw = vectorDraw(spec);
  const values = Float32Array.from({ length: spec.shape.reduce((product, extent) => product * extent, 1) }, () => draw(random));
  const { name } = tensorsOf(spec)[0]!;
  writer.append(name, bytesOf(isFloat32(spec) ? values : Uint16Array.from(values, toBf16)));
}

function bytesOf(array: Float32Array | Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
