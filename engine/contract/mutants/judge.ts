/** Holds one source of a kernel to the kernel's gates, the cheapest cases first, until a gate goes red. */
import type { Contents, Contract, Expected, Fill, Shape } from '../../../kernels/contract.ts';
import { ShaderInvalid } from '../../errors.ts';
import { programsFor } from '../../gpu/programs.ts';
import { fillsOf, runCase } from '../cases.ts';
import { launchGate } from '../launch-gate.ts';
import { launchOf, sizeOf, type Subject } from '../subject.ts';
import { sumsGate } from '../sums-gate.ts';
import { Tally } from '../tally.ts';

/** `green`: no gate saw anything; `invalid`: the source does not compile, and so is no mutant. */
export type Judgement =
  | { readonly result: 'red'; readonly gate: 1 | 2 | 3 | 4; readonly detail: string }
  | { readonly result: 'green' }
  | { readonly result: 'invalid' };

/**
 * @param step is called as each case ends, so that whoever waits can tell slow from hung.
 * @throws EngineBroken when the device fails.
 */
export async function judgeSource(subject: Subject, step: () => void): Promise<Judgement> {
  const { gpu, contract } = subject;
  if (!(await compiles(subject))) return { result: 'invalid' };
  step();
  const launch = await launchGate(subject);
  if (launch.failed) return red(1, launch);
  step();
  const gates = { integrity: new Tally(), shapes: new Tally() };
  for (const shape of contract.shapes.toSorted((a, b) => sizeOf(contract, a.shape) - sizeOf(contract, b.shape))) {
    for (const fill of fillsOf(subject, shape)) {
      await runCase(subject, gpu.adapter.limits, shape, fill, gates, () => gates.integrity.failed || gates.shapes.failed);
      if (gates.integrity.failed) return red(2, gates.integrity);
      if (gates.shapes.failed) return red(3, gates.shapes);
      step();
    }
  }
  const sums = await sumsGate(subject);
  return sums.failed ? red(4, sums) : { result: 'green' };
}

function red(gate: 1 | 2 | 3 | 4, tally: Tally): Judgement {
  return { result: 'red', gate, detail: tally.result().detail };
}

/** Whether every variant's pipeline can be made of the source. */
async function compiles({ gpu, contract, edits }: Subject): Promise<boolean> {
  const served = contract.shapes.find(({ role }) => role === 'served')!;
  for (const variant of contract.kernel.variants) {
    const launch = launchOf(contract, served.shape, variant);
    if (launch instanceof Error) continue;
    try {
      await programsFor(gpu).compile(contract.kernel, launch, edits);
    } catch (error) {
      if (error instanceof ShaderInvalid) return false;
      throw error;
    }
  }
  return true;
}

/** The contract with each case filled and each expectation computed once: a kernel's mutants ask for the same ones again and again. */
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
