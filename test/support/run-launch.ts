/** One launch of a kernel between guard words, with nothing kept: what a contract's case does, without a contract. */
import { CaseRun } from '../../engine/contract/case-run.ts';
import { guardFault, withoutGuards } from '../../engine/contract/guards.ts';
import type { Gpu } from '../../engine/gpu/device.ts';
import type { Kernel, Shape } from '../../kernels/contract.ts';

export type TypedArray = Float32Array | Uint32Array;
export type Arrays = Readonly<Record<string, TypedArray>>;

/**
 * Runs one launch.
 * @param inputs contents by binding name; every `read` binding must be there. A `read_write` binding without contents starts as POISON words.
 * @returns every binding's contents after the launch, inputs included, so that the caller can check that inputs did not change.
 * @throws LaunchRefused for an unserved shape; Error when the launch wrote outside a binding; EngineBroken when a size is wrong or the device fails.
 */
export async function runLaunch(gpu: Gpu, kernel: Kernel, shape: Shape, variant: string | undefined, inputs: Arrays): Promise<Record<string, TypedArray>> {
  const launch = kernel.launch(shape, variant);
  const run = new CaseRun(gpu, kernel, shape, inputs);
  try {
    const words = { ...(await run.launch(launch)), ...(await run.inputs()) };
    return Object.fromEntries(
      kernel.bindings.map(({ name, type }): [string, TypedArray] => {
        const fault = guardFault(name, words[name]!);
        if (fault !== '') throw new Error(`${kernel.name} (${launch.variant}): ${fault}`);
        const contents = withoutGuards(words[name]!);
        return [name, type === 'f32' ? new Float32Array(contents.buffer, contents.byteOffset, contents.length) : contents];
      }),
    );
  } finally {
    run.close();
  }
}
