import { expect, it } from 'vitest';
import { canonicalJson, seal, sha256Hex } from './canonical.ts';

it('sorts keys at every depth and leaves no white space', () => {
  expect(canonicalJson({ b: [1, { z: null, a: 'é"' }], a: 1e21, c: undefined })).toBe('{"a":1e+21,"b":[1,{"a":"é\\"","z":null}]}');
});

it('hashes the UTF-8 bytes of the sealed text', () => {
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(seal({ y: 2, x: 1 })).toEqual({ text: '{"x":1,"y":2}', sha256: sha256Hex('{"x":1,"y":2}') });
  expect(seal({ x: 1, y: 2 })).toEqual(seal({ y: 2, x: 1 }));
});

it('refuses what JSON cannot hold', () => {
  for (const value of [Number.NaN, Infinity, 1n, () => 1, [undefined]]) expect(() => canonicalJson(value)).toThrow(TypeError);
});
