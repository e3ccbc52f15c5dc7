/**
 * Seeded numbers for fills: the same seed gives the same contents on every machine, so that a failure replays from the
 * seed that was printed. sfc32 (public domain), warmed up as its author advises.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b = 0x9e3779b9;
    this.#c = 0x243f6a88;
    for (let i = 0; i < 12; i++) this.word();
  }

  /** A uniform u32. */
  word(): number {
    const sum = (this.#a + this.#b + this.#counter) >>> 0;
    this.#counter = (this.#counter + 1) >>> 0;
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0;
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0;
    return sum;
  }

  /** Fills `into` with what as many calls of `word` would give, several times faster: the state stays in local variables. */
  words(into: Uint32Array): void {
    let [a, b, c, counter] = [this.#a | 0, this.#b | 0, this.#c | 0, this.#counter | 0];
    for (let i = 0; i < into.length; i++) {
      const sum = (a + b + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + sum) | 0;
      into[i] = sum;
    }
    [this.#a, this.#b, this.#c, this.#counter] = [a >>> 0, b >>> 0, c >>> 0, counter >>> 0];
  }

  /** A uniform integer in [low, high]. */
  integer(low: number, high: number): number {
    return low + Math.floor((this.word() / 2 ** 32) * (high - low + 1));
  }

  /** A uniform number in [low, high). */
  uniform(low: number, high: number): number {
    return low + (this.word() / 2 ** 32) * (high - low);
  }

  /** A number of either sign whose magnitude is log-uniform in [low, high): operands that span decades. */
  decades(low: number, high: number): number {
    const magnitude = low * (high / low) ** (this.word() / 2 ** 32);
    return this.word() & 1 ? -magnitude : magnitude;
  }

  /** One of the items. */
  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.integer(0, items.length - 1)] ?? items[0];
  }
}

/** The seed of one named case under a base seed (FNV-1a), so that a case does not change when others are added. */
export function caseSeed(base: number, name: string): number {
  let hash = (0x811c9dc5 ^ base) >>> 0;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
