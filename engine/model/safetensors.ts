/**
 * Reader of one safetensors file: an 8-byte little-endian header length, a JSON header, then the tensors' bytes
 * (https://github.com/huggingface/safetensors, "Format"). The header is checked whole before any byte of data is used; data
 * is read range by range, never the file at once.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';
import { EngineRefused } from '../errors.ts';

/** The format's own limit on the header. */
const MAX_HEADER_BYTES = 100_000_000;

const BYTES_OF = { F32: 4, U32: 4, I32: 4, BF16: 2, F16: 2, U8: 1, I8: 1, BOOL: 1, F64: 8, I64: 8, U64: 8, I16: 2, U16: 2 } as const;
export type Dtype = keyof typeof BYTES_OF;

/** Bytes of a tensor. */
export function byteLength(dtype: Dtype, shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, BYTES_OF[dtype]);
}

function isDtype(name: string): name is Dtype {
  return Object.hasOwn(BYTES_OF, name);
}

const entry = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});

/** One tensor: `start` is a byte offset in the file. */
export interface TensorEntry {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly start: number;
  readonly bytes: number;
}

export class SafetensorsFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly #fd: number;

  private constructor(path: string, fd: number, tensors: ReadonlyMap<string, TensorEntry>) {
    this.path = path;
    this.#fd = fd;
    this.tensors = tensors;
  }

  /**
   * Opens a file and checks its header.
   * @throws EngineRefused naming the file and what is wrong: missing, truncated, malformed, overlapping or out of range.
   */
  static open(path: string): SafetensorsFile {
    const fd = openFile(path);
    try {
      return new SafetensorsFile(path, fd, readHeader(path, fd));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** Fills `target` with the tensor's bytes from `offset` on. */
  read(tensor: TensorEntry, target: Uint8Array, offset = 0): void {
    readFully(this.path, this.#fd, target, tensor.start + offset);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function refuse(path: string, why: string, cause?: unknown): EngineRefused {
  return new EngineRefused(`the checkpoint file ${path} is broken: ${why}`, 'copy or download it again, and compare its SHA-256', { cause });
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    throw new EngineRefused(
      `the checkpoint file ${path} cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`,
      'name the model’s folder with --model',
      {
        cause,
      },
    );
  }
}

function readFully(path: string, fd: number, target: Uint8Array, position: number): void {
  let done = 0;
  while (done < target.length) {
    // One read(2) returns at most 2 GiB.
    const got = readSync(fd, target, done, Math.min(target.length - done, 1 << 30), position + done);
    if (got === 0) throw refuse(path, `it ends at byte ${position + done}, within a tensor`);
    done += got;
  }
}

function readHeader(path: string, fd: number): Map<string, TensorEntry> {
  const size = fstatSync(fd).size;
  if (size < 8) throw refuse(path, `it has ${size} bytes, less than the 8 of a header length`);
  const lengthBytes = new Uint8Array(8);
  readFully(path, fd, lengthBytes, 0);
  const length = Number(new DataView(lengthBytes.buffer).getBigUint64(0, true));
  if (length < 2 || length > MAX_HEADER_BYTES || 8 + length > size) throw refuse(path, `its header claims ${length} bytes, and the file has ${size}`);
  const text = new Uint8Array(length);
  readFully(path, fd, text, 8);
  const header = parseHeader(path, text);
  const dataStart = 8 + length;
  const tensors = new Map<string, TensorEntry>();
  for (const [name, value] of Object.entries(header)) {
    if (name !== '__metadata__') tensors.set(name, checkEntry(path, name, value, dataStart, size));
  }
  checkCover(path, [...tensors.values()], dataStart, size);
  return tensors;
}

function parseHeader(path: string, text: Uint8Array): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text)));
  } catch (cause) {
    throw refuse(path, 'its header is not a JSON object', cause);
  }
}

function checkEntry(path: string, name: string, value: unknown, dataStart: number, size: number): TensorEntry {
  const parsed = entry.safeParse(value);
  if (!parsed.success) throw refuse(path, `tensor ${name} has a malformed header entry`, parsed.error);
  const { dtype, shape, data_offsets } = parsed.data;
  if (!isDtype(dtype)) throw refuse(path, `tensor ${name} has the unknown dtype ${dtype}`);
  const [begin, end] = data_offsets;
  const bytes = byteLength(dtype, shape);
  if (end - begin !== bytes) throw refuse(path, `tensor ${name} spans ${end - begin} bytes where its dtype and shape need ${bytes}`);
  if (dataStart + end > size) throw refuse(path, `it is truncated: tensor ${name} ends at byte ${dataStart + end} of ${size}`);
  return { name, dtype, shape, start: dataStart + begin, bytes };
}

/** The format wants the data covered exactly: no overlap, no hole, nothing after the last tensor. */
function checkCover(path: string, tensors: readonly TensorEntry[], dataStart: number, size: number): void {
  let at = dataStart;
  for (const tensor of tensors.toSorted((a, b) => a.start - b.start || a.bytes - b.bytes)) {
    if (tensor.start < at) throw refuse(path, `tensor ${tensor.name} overlaps the one before it`);
    if (tensor.start > at) throw refuse(path, `${tensor.start - at} bytes before tensor ${tensor.name} belong to no tensor`);
    at += tensor.bytes;
  }
  if (at !== size) throw refuse(path, `${size - at} bytes after the last tensor belong to no tensor`);
}
