import type { Contents, Contract, Expected, Fill, Shape } from '../../kernels/contract.ts';

/** The contract with each case filled and each expectation computed once: a kernel's controls and mutants ask for the same ones again and again. */
export function remembering(contract: Contract): Contract {
  const expected = new WeakMap<Contents, Map<string, Readonly<Record<string, Expected>>>>();
  const expect = (shape: Shape, contents: Contents, family: string): Readonly<Record<string, Expected>> => {
    const byFamily = expected.get(contents) ?? new Map<string, Readonly<Record<string, Expected>>>();
    expected.set(contents, byFamily);
    const known = byFamily.get(family) ?? contract.expect(shape, contents, family);
    byFamily.set(family, known);
    return known;
  };
  return { ...contract, fills: contract.fills.map(rememberingFill), expect };
}

function rememberingFill(fill: Fill): Fill {
  const filled = new WeakMap<Shape, Contents>();
  return {
    ...fill,
    make: (shape, random) => {
      const known = filled.get(shape) ?? fill.make(shape, random);
      filled.set(shape, known);
      return known;
    },
  };
}
