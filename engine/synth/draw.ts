/**
 * Random weights at a trained model's scale: logits spread, so that argmax means something, and the recurrent state decays, so that it
 * stays finite at any length. Only additions, products and square roots, which every machine rounds alike: no logarithm, no cosine.
 */
import type { Random } from '../../kernels/random.ts';
import type { QuantisedSpec, VectorSpec } from '../model/tensors.ts';

/** Standard deviation of the sum of four bytes. */
const FOUR_BYTES = Math.sqrt((4 * (256 ** 2 - 1)) / 12);

/** Sums that four bytes can have. */
const SUMS = 4 * 255 + 1;

function byteSum(word: number): number {
  // Two bytes in each half at once.
  const halves = (word & 0x00ff00ff) + ((word >>> 8) & 0x00ff00ff);
  return (halves & 0xffff) + (halves >>> 16);
}

/** Nearly normal, mean 0 and deviation 1, from the sum of the four bytes of one word. Its tails end at ±3.5. */
function normal(sum: number): number {
  return (sum - 510) / FOUR_BYTES;
}

/**
 * How a matrix is drawn: a block of its weights at a time, a word of `random` each. 2b has 1.9 · 10⁹ weights of 1,021 values, which are
 * looked up.
 */
export function matrixDraw(spec: QuantisedSpec): (random: Random, block: Float32Array) => void {
  const deviation = (spec.name === 'model.embed_tokens' ? 3 : 0.7) / Math.sqrt(spec.k);
  const values = Float32Array.from({ length: SUMS }, (_, sum) => deviation * normal(sum));
  let words = new Uint32Array(0);
  return (random, block) => {
    if (words.length !== block.length) words = new Uint32Array(block.length);
    random.words(words);
    for (let i = 0; i < block.length; i++) block[i] = values[byteSum(words[i]!)]!;
  };
}

/** How one element of a vector is drawn. */
export function vectorDraw(spec: VectorSpec): (random: Random) => number {
  const spread = (mean: number, deviation: number) => (random: Random) => mean + deviation * normal(byteSum(random.word()));
  if (spec.name.endsWith('.conv1d.weight')) return spread(0, 0.4);
  if (spec.name.endsWith('.A_log')) return (random) => random.uniform(-3, 1.5);
  if (spec.name.endsWith('.dt_bias')) return (random) => random.uniform(-3, 1);
  // Norms: the plain ones hold 1 + w in this layout, the gated one holds w near 1.
  return spread(1, 0.05);
}
