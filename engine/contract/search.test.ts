import { expect, test } from 'vitest';
import type { Contract, ContractShape } from '../../kernels/contract.ts';
import { loadRegistry } from '../../kernels/registry.ts';
import { largeCases, smallCases } from './search.ts';
import { launchOf, sizeOf } from './subject.ts';

const contracts = (await loadRegistry()).flatMap(({ contract }) => (contract ? [[contract.kernel.name, contract] as const] : []));

/** Every shape with every variant that serves it. */
function served(contract: Contract, cases: readonly ContractShape[]): string[] {
  return cases
    .flatMap(({ name, shape, variants }) =>
      (variants ?? contract.kernel.variants).filter((variant) => !(launchOf(contract, shape, variant) instanceof Error)).map((variant) => `${name}/${variant}`),
    )
    .toSorted();
}

test.each(contracts)('the search of %s has every case of its gates once', (_, contract) => {
  expect(served(contract, [...smallCases(contract), ...largeCases(contract)])).toEqual(served(contract, contract.shapes));
});

test.each(contracts)('the small cases of %s come pipeline by pipeline', (_, contract) => {
  const pipelines = smallCases(contract).map(({ shape, variants }) => {
    const launch = launchOf(contract, shape, variants![0]!);
    if (launch instanceof Error) throw launch;
    return JSON.stringify([launch.variant, launch.entryPoint, launch.constants]);
  });
  const begun = pipelines.filter((pipeline, index) => pipeline !== pipelines[index - 1]);
  expect(begun).toEqual([...new Set(pipelines)]);
});

test('only the variants asked for are searched, and large cases end at the size given', () => {
  const [, contract] = contracts.find(([name]) => name === 'qmm-q4')!;
  const variants = contract.families['split-k']!;
  const large = largeCases(contract, variants, 400_000);
  expect(new Set([...smallCases(contract, variants), ...large].flatMap((each) => each.variants!))).toEqual(new Set(variants));
  expect(Math.max(...large.map(({ shape }) => sizeOf(contract, shape)))).toBeLessThanOrEqual(400_000);
});
