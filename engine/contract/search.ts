/**
 * Looks for the first case that a fault turns red. On a CPU driver a pipeline takes seconds to compile and a small case milliseconds to run:
 * all small cases of a pipeline, and of a variant, come before the next is compiled. Every case of the gates is in the search all the same.
 */
import type { Contract, ContractShape } from '../../kernels/contract.ts';
import { fillsOf, runCase, type CaseGates, type FirstOfFamily } from './cases.ts';
import type { Limits } from './limits.ts';
import { launchOf, sizeOf, type Subject } from './subject.ts';

/** Elements up to which a case, three launches of it and its readback take a CPU driver less than a compilation. */
const SMALL = 65_536;

/** Small cases, one variant each: by variant, then by pipeline as its smallest shape comes, then by size. */
export function smallCases(contract: Contract, variants: readonly string[] = contract.kernel.variants): ContractShape[] {
  const small = bySize(contract).filter(({ shape }) => sizeOf(contract, shape) <= SMALL);
  return variants.flatMap((variant) => {
    const byPipeline = new Map<string, ContractShape[]>();
    for (const shape of small.filter((each) => (each.variants ?? variants).includes(variant))) {
      const launch = launchOf(contract, shape.shape, variant);
      if (launch instanceof Error) continue;
      const pipeline = JSON.stringify([launch.entryPoint, launch.constants]);
      byPipeline.set(pipeline, [...(byPipeline.get(pipeline) ?? []), { ...shape, variants: [variant] }]);
    }
    return [...byPipeline.values()].flat();
  });
}

/** The other cases of up to `most` elements, smallest first, each with all its variants. */
export function largeCases(contract: Contract, variants: readonly string[] = contract.kernel.variants, most = Infinity): ContractShape[] {
  return bySize(contract)
    .filter(({ shape }) => sizeOf(contract, shape) > SMALL && sizeOf(contract, shape) <= most)
    .map((shape) => ({ ...shape, variants: (shape.variants ?? variants).filter((variant) => variants.includes(variant)) }));
}

function bySize(contract: Contract): ContractShape[] {
  return contract.shapes.toSorted((a, b) => sizeOf(contract, a.shape) - sizeOf(contract, b.shape));
}

/**
 * Runs cases with every fill until one is red. Variants of a family are held to each other across the cases given.
 * @param red whether `gates` have seen what is looked for.
 * @param step is called as each case ends.
 */
export async function search(
  subject: Subject,
  limits: Limits,
  cases: readonly ContractShape[],
  gates: CaseGates,
  red: () => boolean,
  step: () => void = () => {},
): Promise<void> {
  const first: FirstOfFamily = new Map();
  for (const shape of cases) {
    for (const fill of fillsOf(subject, shape)) {
      await runCase(subject, limits, shape, fill, gates, { enough: red, first });
      if (red()) return;
      step();
    }
  }
}
