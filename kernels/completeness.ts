import type { Contract, FillKind } from './contract.ts';

const KINDS: readonly FillKind[] = ['spread', 'exact', 'stress', 'classes'];

/** What a contract leaves out; empty when it is whole. It says nothing about whether the contract is right. */
export function contractFault(contract: Contract): string {
  const { kernel, families, fills, shapes, sums } = contract;
  const placed = Object.values(families).flat();
  for (const variant of kernel.variants) {
    const times = placed.filter((each) => each === variant).length;
    if (times !== 1) return `variant ${variant} is in ${times} families, not in one`;
  }
  const stranger = placed.find((variant) => !kernel.variants.includes(variant));
  if (stranger !== undefined) return `family member ${stranger} is no variant of the kernel`;
  const unknown = shapes.flatMap((shape) => shape.variants ?? []).find((variant) => !kernel.variants.includes(variant));
  if (unknown !== undefined) return `a shape names ${unknown}, which is no variant of the kernel`;
  for (const kind of KINDS) {
    const given = fills.some((fill) => fill.kind === kind);
    const reason = contract.absent?.[kind] ?? '';
    if (!given && reason === '') return `it has no ${kind} fill and does not say why`;
    if (given && reason !== '') return `it has a ${kind} fill and says why it has none`;
  }
  const repeated = twice(shapes.map(({ name }) => name)) ?? twice(fills.map(({ name }) => name));
  if (repeated !== undefined) return `the name ${repeated} is used twice`;
  if (!shapes.some(({ role }) => role === 'served')) return 'it has no served shape';
  if ('none' in sums ? sums.none === '' : sums.length === 0) return 'it has no sums and does not say why';
  return contract.meaning === '' || contract.bounds === '' ? 'its meaning or the derivation of its bounds is empty' : '';
}

function twice(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}
