/** Canonical JSON and its SHA-256: the bytes that a seal or a verdict's `computedFrom` is a hash of. */
import { createHash } from 'node:crypto';

/**
 * JSON with object keys sorted by UTF-16 code unit and no white space (the form of RFC 8785 for plain data).
 * Members that are `undefined` are left out, as JSON.stringify does.
 * @throws TypeError for what JSON cannot hold exactly: NaN, Infinity, bigint, functions, symbols, `undefined` in an array.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`canonical JSON cannot hold ${value}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  throw new TypeError(`canonical JSON cannot hold a ${typeof value}`);
}

/** SHA-256 of a text's UTF-8 bytes, 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** What is stored when something is sealed: the exact text that was hashed, and its hash. */
export function seal(value: unknown): { text: string; sha256: string } {
  const text = canonicalJson(value);
  return { text, sha256: sha256Hex(text) };
}
