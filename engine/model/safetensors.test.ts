import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SafetensorsFile } from './safetensors.ts';

const folder = mkdtempSync(join(tmpdir(), 'safetensors-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a file whose header is `header` (text, or a value that becomes JSON) before `data`. */
function write(header: unknown, data: Uint8Array, claimedLength?: number): string {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(claimedLength ?? text.length), true);
  const path = join(folder, 'model.safetensors');
  writeFileSync(path, Buffer.concat([length, text, data]));
  return path;
}

const two = {
  __metadata__: { format: 'mlx' },
  a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
  b: { dtype: 'BF16', shape: [1, 3], data_offsets: [8, 14] },
};

describe('SafetensorsFile', () => {
  it('reads the range of one tensor and nothing else', () => {
    const file = SafetensorsFile.open(
      write(
        two,
        Uint8Array.from({ length: 14 }, (_, i) => i),
      ),
    );
    const target = new Uint8Array(6);
    file.read(file.tensors.get('b')!, target);
    expect([...target]).toEqual([8, 9, 10, 11, 12, 13]);
    expect([...file.tensors.keys()]).toEqual(['a', 'b']);
    file.close();
  });

  it.each<[string, () => string, RegExp]>([
    ['a missing file', () => join(folder, 'absent.safetensors'), /cannot be opened/],
    ['a file without a header length', () => (writeFileSync(join(folder, 'short'), 'abc'), join(folder, 'short')), /has 3 bytes/],
    ['a header length past the end', () => write(two, new Uint8Array(14), 1e6), /header claims 1000000 bytes/],
    ['a header that is no JSON', () => write('{"a":', new Uint8Array(14)), /not a JSON object/],
    ['a header that is a list', () => write([two], new Uint8Array(14)), /not a JSON object/],
    ['an entry without offsets', () => write({ a: { dtype: 'F32', shape: [2] } }, new Uint8Array(8)), /tensor a has a malformed header entry/],
    ['a negative extent', () => write({ a: { dtype: 'F32', shape: [-2], data_offsets: [0, 8] } }, new Uint8Array(8)), /tensor a has a malformed/],
    ['an unknown dtype', () => write({ a: { dtype: 'Q4', shape: [8], data_offsets: [0, 8] } }, new Uint8Array(8)), /unknown dtype Q4/],
    [
      'a length that its shape does not need',
      () => write({ a: { dtype: 'F32', shape: [3], data_offsets: [0, 8] } }, new Uint8Array(8)),
      /spans 8 bytes .* need 12/,
    ],
    ['a truncated file', () => write(two, new Uint8Array(13)), /truncated: tensor b ends/],
    [
      'overlapping tensors',
      () => write({ a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] }, b: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } }, new Uint8Array(8)),
      /tensor b overlaps/,
    ],
    ['a hole', () => write({ a: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } }, new Uint8Array(8)), /4 bytes before tensor a/],
    ['bytes after the last tensor', () => write(two, new Uint8Array(16)), /2 bytes after the last tensor/],
  ])('refuses %s by name', (_, make, message) => {
    const path = make();
    expect(() => SafetensorsFile.open(path)).toThrow(message);
    expect(() => SafetensorsFile.open(path)).toThrow(path);
  });
});
