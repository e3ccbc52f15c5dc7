/** New run ids, and job ids made from them. */
import { randomBytes } from 'node:crypto';

/** Crockford's base 32 in lower case: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** `r` and ten random characters (50 bits). */
export function newRunId(): string {
  return `r${[...randomBytes(10)].map((byte) => ALPHABET[byte & 31]).join('')}`;
}

export function jobIdOf(run: string, device: string, suite: string): string {
  return `${run}.${device}.${suite}`;
}
