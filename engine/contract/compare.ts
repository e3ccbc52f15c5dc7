/** Holds one output to what a contract expects of it. Works on the u32 words that were read back. */
import type { BoundedOutput, ExactOutput, Expected } from '../../kernels/contract.ts';
import { classFault, classOf, showWord } from './classes.ts';

export interface Comparison {
  readonly checks: number;
  /** The first element at fault and how many there are; empty when all hold. */
  readonly fault: string;
  /** The worst element over its depth bound; empty when none is. Only says something when there is no fault. */
  readonly alarm: string;
  /** Largest |error| / spec bound; null where the output is exact. */
  readonly worst: number | null;
  /** Σ(out − ref)² / Σref² over finite elements; null where Σref² is 0 or the output is no float. */
  readonly nmse: number | null;
}

/**
 * @param words the output's words after the launch, `initial` those before it.
 * @throws Error when the expectation itself is unusable: another length, a bound that is no finite number.
 */
export function compareOutput(expected: Expected, words: Uint32Array, initial: Uint32Array): Comparison {
  const length = expected.kind === 'exact' ? expected.bits.length : expected.values.length;
  if (length !== words.length) throw new Error(`the contract expects ${length} elements of an output of ${words.length}`);
  return expected.kind === 'exact' ? compareExact(expected, words, initial) : compareBounded(expected, words, initial);
}

/**
 * The bits that a bounded expectation asks for on an exact fill.
 * @throws Error when a reference value is no float32: then the fill is not exact.
 */
export function exactBits(expected: Expected): ExactOutput {
  if (expected.kind === 'exact') return expected;
  const rounded = Float32Array.from(expected.values);
  const odd = rounded.findIndex((value, i) => value !== expected.values[i]);
  if (odd >= 0) throw new Error(`the fill is called exact, but element ${odd} is ${expected.values[odd]}, which is no float32`);
  const bits = new Uint32Array(rounded.buffer);
  return expected.kept ? { kind: 'exact', bits, kept: expected.kept } : { kind: 'exact', bits };
}

function compareExact(expected: ExactOutput, words: Uint32Array, initial: Uint32Array): Comparison {
  const faults = new Faults();
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const due = expected.kept?.[i] ? initial[i]! : expected.bits[i]!;
    if (word === due) continue;
    const zeros = classOf(word).endsWith('0') && classOf(due).endsWith('0');
    faults.add(i, `is ${showWord(word)} where ${showWord(due)} is due${zeros ? ': the sign of zero' : expected.kept?.[i] ? ': it was to be left alone' : ''}`);
  }
  return { checks: words.length, fault: faults.summary(), alarm: '', worst: null, nmse: null };
}

function compareBounded(expected: BoundedOutput, words: Uint32Array, initial: Uint32Array): Comparison {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  const faults = new Faults();
  let worst = 0;
  let depthWorst = 1;
  let alarm = '';
  let errors = 0;
  let energy = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (expected.kept?.[i]) {
      if (word !== initial[i]) faults.add(i, `is ${showWord(word)} where it was to be left as ${showWord(initial[i]!)}`);
      continue;
    }
    const value = expected.values[i]!;
    const wrongClass = classFault(word, value);
    if (wrongClass !== '') faults.add(i, wrongClass);
    if (wrongClass !== '' || !Number.isFinite(value)) continue;
    const spec = expected.spec[i]!;
    const depth = expected.depth[i]!;
    if (!Number.isFinite(spec) || !Number.isFinite(depth)) throw new Error(`element ${i}: the bounds ${spec} and ${depth} of the finite ${value} are unusable`);
    const error = Math.abs(floats[i]! - value);
    errors += error * error;
    energy += value * value;
    // A bound of 0 is kept by an error of 0 only.
    worst = Math.max(worst, fraction(error, spec));
    if (error > spec) faults.add(i, `is ${showWord(word)} where ${value} is due: off by ${error}, the bound is ${spec}`);
    if (fraction(error, depth) > depthWorst) {
      depthWorst = fraction(error, depth);
      alarm = `element ${i} is off by ${depthWorst.toPrecision(3)} of its depth bound`;
    }
  }
  return { checks: words.length, fault: faults.summary(), alarm, worst, nmse: energy > 0 ? errors / energy : null };
}

function fraction(error: number, bound: number): number {
  return error === 0 ? 0 : error / bound;
}

class Faults {
  #first = '';
  #count = 0;

  add(element: number, what: string): void {
    this.#count++;
    if (this.#first === '') this.#first = `element ${element} ${what}`;
  }

  summary(): string {
    return this.#count > 1 ? `${this.#first} (and ${this.#count - 1} more)` : this.#first;
  }
}
