/** Shows whether a launch wrote what it had to write, left its inputs alone and did the same each time. */
import { showWord } from './classes.ts';

/** Bits that fill an output before the launch: a quiet NaN that no kernel produces. A word that still holds it was not written. */
export const POISON = 0x7fe5a5a5;

/** The first element that still holds the poison it started with, and how many do; empty when all were written. */
export function unwrittenFault(output: string, words: Uint32Array, kept?: Uint8Array): string {
  let first = -1;
  let count = 0;
  for (let i = 0; i < words.length; i++) {
    if (words[i] !== POISON || kept?.[i]) continue;
    if (first < 0) first = i;
    count++;
  }
  return first < 0 ? '' : `"${output}": ${count} of ${words.length} elements were never written, the first is ${first}`;
}

/** The first word in which two contents of equal length differ; empty when they are identical. */
export function differenceFault(what: string, before: Uint32Array, after: Uint32Array): string {
  if (before.length !== after.length) return `${what}: ${before.length} words became ${after.length}`;
  for (let i = 0; i < before.length; i++) {
    if (before[i] !== after[i]) return `${what}: element ${i} is ${showWord(after[i]!)}, not ${showWord(before[i]!)}`;
  }
  return '';
}
