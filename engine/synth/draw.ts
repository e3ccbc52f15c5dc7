/**
 * Random weights at a trained model's scale: logits spread, so that argmax means something, and the recurrent state decays, so that it
 * stays finite at any length. Only additions, products and square roots, which every machine rounds alike: no logarithm, no cosine.
 */
import type { Random } from '../../kernels/random.ts';
import type { WeightSpec } from '../model/tensors.ts';

/** Standard deviation of the sum of four bytes. */
const FOUR_BYTES = Math.sqrt((4 * (256 ** 2 - 1)) / 12);

/** Nearly normal, mean 0 and deviation 1: the sum of the four bytes of one word. Its tails end at ±3.5. */
function normal(random: Random): number {
  const word = random.word();
  return ((word & 255) + ((word >>> 8) & 255) + ((word >>> 16) & 255) + (word >>> 24) - 510) / FOUR_BYTES;
}

/** How one element of a weight is drawn. */
export function drawOf(spec: WeightSpec): (random: Random) => number {
  const spread = (mean: number, deviation: number) => (random: Random) => mean + deviation * normal(random);
  if (spec.form === 'quantised') return spread(0, (spec.name === 'model.embed_tokens' ? 3 : 0.7) / Math.sqrt(spec.k));
  if (spec.name.endsWith('.conv1d.weight')) return spread(0, 0.4);
  if (spec.name.endsWith('.A_log')) return (random) => random.uniform(-3, 1.5);
  if (spec.name.endsWith('.dt_bias')) return (random) => random.uniform(-3, 1);
  // Norms: the plain ones hold 1 + w in this layout, the gated one holds w near 1.
  return spread(1, 0.05);
}
