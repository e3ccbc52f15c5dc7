/**
 * Exact counts of one token: the same prompt decoded at two lengths in one process, and the difference divided by the tokens between
 * them. What the prompt, the set-up and the first step cost is in both and falls out.
 */
import { EngineBroken } from '../errors.ts';
import type { StreamCounters } from '../gpu/stream.ts';

/** What was counted of a decode of `steps` steps. */
export interface CountedRun {
  readonly steps: number;
  readonly counters: StreamCounters;
}

/**
 * Counts of one token.
 * @throws EngineBroken naming a count whose difference is no whole number of times the tokens: then no token is like another, and
 *   there is no such figure.
 */
export function perToken(short: CountedRun, long: CountedRun): StreamCounters {
  const tokens = long.steps - short.steps;
  const each = (what: string, a: number, b: number): number => {
    if ((b - a) % tokens !== 0 || b < a)
      throw new EngineBroken(`${what}: ${a} in ${short.steps} steps and ${b} in ${long.steps} steps is no whole number a token, so the tokens differ`);
    return (b - a) / tokens;
  };
  const all = (what: string, a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> => {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].toSorted();
    // What only the prompt or the set-up takes is no part of a token.
    return Object.fromEntries(names.map((name) => [name, each(`${what} ${name}`, a[name] ?? 0, b[name] ?? 0)] as const).filter(([, count]) => count > 0));
  };
  return {
    submits: all('submits of trigger', short.counters.submits, long.counters.submits),
    dispatches: all('dispatches of', short.counters.dispatches, long.counters.dispatches),
    bytesReadBack: each('bytes read back', short.counters.bytesReadBack, long.counters.bytesReadBack),
  };
}

/** Counts as lines for people: dispatches by kernel, most first. */
export function countLines(counts: StreamCounters): string[] {
  const total = (of: Readonly<Record<string, number>>): number => Object.values(of).reduce((sum, count) => sum + count, 0);
  const submits = Object.entries(counts.submits).map(([trigger, count]) => `${count} ${trigger}`);
  return [
    `a token: ${total(counts.dispatches)} dispatches, ${total(counts.submits)} submits (${submits.join(', ')}), ${counts.bytesReadBack} bytes read back`,
    ...Object.entries(counts.dispatches)
      .toSorted(([, a], [, b]) => b - a)
      .map(([kernel, count]) => `${String(count).padStart(5)}  ${kernel}`),
  ];
}
