/** A checkpoint folder's tensors: one model.safetensors, or the shards that model.safetensors.index.json names. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { EngineRefused } from '../errors.ts';
import { SafetensorsFile, type TensorEntry } from './safetensors.ts';

const index = z.object({ weight_map: z.record(z.string(), z.string().regex(/^[^/\\]+\.safetensors$/)) });

/** What weights are loaded from. */
export type TensorSource = Pick<Checkpoint, 'tensors' | 'read'>;

export class Checkpoint {
  readonly folder: string;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly #files: readonly SafetensorsFile[];

  private constructor(folder: string, files: readonly SafetensorsFile[]) {
    this.folder = folder;
    this.#files = files;
    this.tensors = new Map(files.flatMap((file) => [...file.tensors]));
  }

  /**
   * Opens a folder and checks every header; reads no tensor.
   * @throws EngineRefused when a file is missing or broken, or the shards do not hold what the index says.
   */
  static open(folder: string): Checkpoint {
    const indexPath = join(folder, 'model.safetensors.index.json');
    if (!existsSync(indexPath)) return new Checkpoint(folder, [SafetensorsFile.open(join(folder, 'model.safetensors'))]);
    const map = readIndex(indexPath);
    const files: SafetensorsFile[] = [];
    try {
      for (const name of new Set(Object.values(map))) files.push(SafetensorsFile.open(join(folder, name)));
      checkIndex(indexPath, folder, map, files);
    } catch (error) {
      for (const file of files) file.close();
      throw error;
    }
    return new Checkpoint(folder, files);
  }

  /** Fills `target` with a tensor's bytes from `offset` on. */
  read(name: string, target: Uint8Array, offset = 0): void {
    const file = this.#files.find((candidate) => candidate.tensors.has(name));
    const tensor = file?.tensors.get(name);
    if (!file || !tensor) throw new EngineRefused(`the checkpoint in ${this.folder} has no tensor ${name}`, 'name a whole checkpoint with --model');
    file.read(tensor, target, offset);
  }

  /** SHA-256 of model.safetensors, or of the shards one after the other in the index's order. */
  async sha256(): Promise<string> {
    const hash = createHash('sha256');
    for (const { path } of this.#files) await pipeline(createReadStream(path, { highWaterMark: 4 << 20 }), hash, { end: false });
    return hash.digest('hex');
  }

  close(): void {
    for (const file of this.#files) file.close();
  }
}

function readIndex(path: string): Record<string, string> {
  try {
    return index.parse(JSON.parse(readFileSync(path, 'utf8'))).weight_map;
  } catch (cause) {
    throw new EngineRefused(`the checkpoint index ${path} is broken: it has no weight_map of file names`, 'copy or download it again', { cause });
  }
}

function checkIndex(path: string, folder: string, map: Readonly<Record<string, string>>, files: readonly SafetensorsFile[]): void {
  for (const file of files) {
    for (const name of file.tensors.keys()) {
      const claimed = map[name];
      if (claimed === undefined || join(folder, claimed) !== file.path) {
        throw new EngineRefused(`the checkpoint index ${path} does not place tensor ${name} in ${file.path}`, 'copy or download it again');
      }
    }
  }
  const held = files.reduce((sum, file) => sum + file.tensors.size, 0);
  const missing = Object.keys(map).find((name) => !files.some((file) => file.tensors.has(name)));
  if (missing !== undefined || held !== Object.keys(map).length) {
    throw new EngineRefused(
      `the checkpoint index ${path} names tensor ${missing ?? '(a repeated one)'}, which its file does not hold`,
      'copy or download it again',
    );
  }
}
