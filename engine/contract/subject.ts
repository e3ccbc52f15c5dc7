import { LaunchRefused, type Contract, type ContractShape, type Fill, type Launch, type Contents, type Shape } from '../../kernels/contract.ts';
import { caseSeed, Random } from '../../kernels/random.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Edits } from '../gpu/kernel-source.ts';

/** What is being judged: a contract's kernel on one device, as shipped or with a planted fault. */
export interface Subject {
  readonly gpu: Gpu;
  readonly contract: Contract;
  /** The planted fault; absent: as shipped. */
  readonly edits?: Edits;
  /** Base seed of every fill. */
  readonly seed: number;
  /** How often each case is launched. */
  readonly repeat: number;
}

/** The launch of a shape, or why the variant declines it. Anything but a LaunchRefused is a defect and is thrown. */
export function launchOf(contract: Contract, shape: Shape, variant: string): Launch | LaunchRefused {
  try {
    return contract.kernel.launch(shape, variant);
  } catch (error) {
    if (error instanceof LaunchRefused) return error;
    throw error;
  }
}

/** Contents of one case, the same on every machine for the same base seed. */
export function fillCase(subject: Subject, shape: ContractShape, fill: Fill): Contents {
  const name = `${subject.contract.kernel.name}/${shape.name}/${fill.name}`;
  return fill.make(shape.shape, new Random(caseSeed(subject.seed, name)));
}

/** Elements that a shape touches: a measure of what a case costs. */
export function sizeOf(contract: Contract, shape: Shape): number {
  return Object.values(contract.kernel.sizes(shape)).reduce((sum, size) => sum + size, 0);
}
