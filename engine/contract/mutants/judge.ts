/** Holds one source of a kernel to the kernel's gates, the cheapest cases first, until a gate goes red. */
import type { ContractShape } from '../../../kernels/contract.ts';
import { ShaderInvalid } from '../../errors.ts';
import { programsFor } from '../../gpu/programs.ts';
import { launchGate } from '../launch-gate.ts';
import { largeCases, search, smallCases } from '../search.ts';
import { launchOf, type Subject } from '../subject.ts';
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
  const gates = { integrity: new Tally(), shapes: new Tally() };
  const casesRed = async (cases: readonly ContractShape[]): Promise<Judgement | undefined> => {
    await search(subject, gpu.adapter.limits, cases, gates, () => gates.integrity.failed || gates.shapes.failed, step);
    if (gates.integrity.failed) return red(2, gates.integrity);
    return gates.shapes.failed ? red(3, gates.shapes) : undefined;
  };
  // Gate 1 compiles every variant before it sees anything, so that it comes after the cases that may do with one.
  const small = await casesRed(smallCases(contract));
  if (small) return small;
  const launch = await launchGate(subject);
  if (launch.failed) return red(1, launch);
  step();
  const large = await casesRed(largeCases(contract));
  if (large) return large;
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
