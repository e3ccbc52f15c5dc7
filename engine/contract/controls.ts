/** Plants a control's fault in the shader and demands that the gate it names goes red. */
import { ControlDrifted, plant, plantedFile } from '../../kernels/plant.ts';
import type { Contract, Control } from '../../kernels/contract.ts';
import type { GateResult } from '../protocol.ts';
import { ShaderInvalid } from '../errors.ts';
import { shippedShader } from '../gpu/kernel-source.ts';
import { launchGate } from './launch-gate.ts';
import type { Limits } from './limits.ts';
import { largeCases, search, smallCases } from './search.ts';
import type { Subject } from './subject.ts';
import { sumsGate } from './sums-gate.ts';
import { Tally } from './tally.ts';

export interface ControlOutcome {
  readonly caught: boolean;
  /** False: the line that it edits is not there once, so nothing was tried. */
  readonly planted: boolean;
  /** What the gate said, or why the fault went unseen. */
  readonly detail: string;
}

/** Cases larger than this are not run for a control: a fault that only shows there needs a smaller case of its own. */
const LARGEST_ELEMENTS = 400_000;

/**
 * Plants one control. A head may have edited the very line that the control edits: a fault that can then not be planted, or not
 * compiled, is one that no gate was shown to catch, so it is missed. It says nothing of the other kernels.
 */
export async function runControl(shipped: Subject, limits: Limits, control: Control): Promise<ControlOutcome> {
  const { kernel } = shipped.contract;
  let result: GateResult;
  try {
    const file = plantedFile(kernel, control);
    const subject: Subject = { ...shipped, edits: { [file]: plant(file, shippedShader(file), control) } };
    result = (await redGate(subject, limits, control)).result();
  } catch (error) {
    if (error instanceof ControlDrifted)
      return {
        caught: false,
        planted: false,
        detail: `not planted: ${error.message}. next: update it in kernels/${kernel.name}/${kernel.name}.control.ts`,
      };
    if (error instanceof ShaderInvalid) return { caught: false, planted: true, detail: `not run: with the planted line ${error.message}` };
    throw error;
  }
  const { status, detail } = result;
  return status === 'fail'
    ? { caught: true, planted: true, detail }
    : { caught: false, planted: true, detail: `gate ${control.gate} stayed green over the planted line: ${control.replace.trim()}` };
}

async function redGate(subject: Subject, limits: Limits, control: Control): Promise<Tally> {
  const { gate } = control;
  if (gate === 1) return launchGate(subject);
  if (gate === 4) return sumsGate(subject);
  const gates = { integrity: new Tally(), shapes: new Tally() };
  const asked = gate === 2 ? gates.integrity : gates.shapes;
  const { contract } = subject;
  const variants = variantsOf(contract, control);
  const cases = [...smallCases(contract, variants), ...largeCases(contract, variants, LARGEST_ELEMENTS)];
  await search(subject, limits, cases, gates, () => asked.failed);
  return asked;
}

/** @throws ControlDrifted when the control names a family or variant that the kernel does not have. */
function variantsOf({ kernel, families }: Contract, { name, family, variants }: Control): readonly string[] {
  const unknown = variants?.find((variant) => !kernel.variants.includes(variant));
  if (unknown !== undefined) throw new ControlDrifted(`control "${name}": ${kernel.name} has no variant ${unknown}; it has ${kernel.variants.join(', ')}`);
  if (variants) return variants;
  if (family === undefined) return kernel.variants;
  const members = families[family];
  if (!members) throw new ControlDrifted(`control "${name}": ${kernel.name} has no family ${family}; it has ${Object.keys(families).join(', ')}`);
  return members;
}
