import { Random, caseSeed } from '../../../kernels/random.ts';
import type { Edit } from './edits.ts';

/**
 * The order in which a kernel's edits are tried, the same for the same seed: one of each rule in turn, each rule's edits
 * shuffled. So a short list holds every kind of edit, and not only the commonest.
 */
export function chosenOrder<E extends Pick<Edit, 'rule'>>(edits: readonly E[], kernel: string, seed: number): E[] {
  const random = new Random(caseSeed(seed, `${kernel}/mutants`));
  const byRule = new Map<string, E[]>();
  for (const edit of edits) byRule.set(edit.rule, [...(byRule.get(edit.rule) ?? []), edit]);
  const piles = [...byRule.values()].map((pile) => shuffled(pile, random));
  const order: E[] = [];
  for (let round = 0; order.length < edits.length; round++) order.push(...piles.flatMap((pile) => pile.slice(round, round + 1)));
  return order;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  const out: T[] = [];
  while (left.length > 0) out.push(...left.splice(random.integer(0, left.length - 1), 1));
  return out;
}
