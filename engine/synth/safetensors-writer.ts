/** Writes a safetensors file piece by piece: the header first, then any part of any tensor in any order. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { EngineBroken } from '../errors.ts';
import { byteLength, type Dtype } from '../model/safetensors.ts';

export interface NewTensor {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
}

/** `start` counts from the first byte of data. */
interface Place {
  readonly start: number;
  readonly bytes: number;
  written: number;
}

export class SafetensorsWriter {
  readonly #fd: number;
  readonly #dataStart: number;
  readonly #places = new Map<string, Place>();

  /**
   * Creates the file, which must not be there, and writes its header.
   * @param tensors in any order; wider elements come first in the file, so that every tensor is aligned.
   */
  constructor(path: string, tensors: readonly NewTensor[]) {
    const header: Record<string, unknown> = { __metadata__: { format: 'mlx' } };
    let end = 0;
    for (const { name, dtype, shape } of tensors.toSorted((a, b) => byteLength(b.dtype, []) - byteLength(a.dtype, []))) {
      const bytes = byteLength(dtype, shape);
      header[name] = { dtype, shape, data_offsets: [end, end + bytes] };
      this.#places.set(name, { start: end, bytes, written: 0 });
      end += bytes;
    }
    const json = JSON.stringify(header);
    // Spaces behind the header align the data to 8 bytes.
    const text = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    this.#dataStart = 8 + text.length;
    this.#fd = openSync(path, 'wx');
    this.#writeFully(Buffer.concat([length, text]), 0);
  }

  /** Appends `data` to what was written of a tensor so far. */
  append(name: string, data: Uint8Array): void {
    const place = this.#places.get(name);
    if (!place || place.written + data.length > place.bytes) throw new EngineBroken(`tensor ${name} was given more bytes than its header says`);
    this.#writeFully(data, this.#dataStart + place.start + place.written);
    place.written += data.length;
  }

  /** @throws EngineBroken when a tensor is not whole. */
  finish(): void {
    for (const [name, { bytes, written }] of this.#places) if (written !== bytes) throw new EngineBroken(`tensor ${name} has ${written} of ${bytes} bytes`);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #writeFully(data: Uint8Array, position: number): void {
    for (let done = 0; done < data.length;) done += writeSync(this.#fd, data, done, data.length - done, position + done);
  }
}
