/** A step of a graph as plain data, and its compilation into a dispatch that a stream can record again and again. */
import type { Kernel, Shape } from '../../kernels/contract.ts';
import { EngineRefused } from '../errors.ts';
import type { BufferRef } from '../gpu/buffer-ref.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Dispatch, Programs } from '../gpu/programs.ts';

/** One kernel, its shape and what its storage bindings are bound to. */
export interface Step {
  readonly kernel: Kernel;
  readonly shape: Shape;
  readonly variant?: string;
  readonly buffers: Readonly<Record<string, BufferRef>>;
}

/** Bytes of all bindings of a launch, each counted once, and of those that it reads a part of, the part. */
export function touchedBytes(kernel: Kernel, shape: Shape): number {
  const elements = { ...kernel.sizes(shape), ...kernel.touched?.(shape) };
  return kernel.bindings.reduce((sum, { name }) => sum + elements[name]! * 4, 0);
}

/**
 * Compiles and binds steps, in order. Every binding gets exactly the bytes that the kernel states for the shape.
 * @throws LaunchRefused for a shape that a kernel does not serve; EngineRefused when a binding is larger than the device allows.
 */
export async function buildSteps(gpu: Gpu, programs: Programs, steps: readonly Step[]): Promise<Dispatch[]> {
  const launches = steps.map(({ kernel, shape, variant }) => kernel.launch(shape, variant));
  const compiled = await Promise.all(steps.map(({ kernel }, index) => programs.compile(kernel, launches[index]!)));
  const limit = gpu.device.limits.maxStorageBufferBindingSize;
  return steps.map(({ kernel, shape, buffers }, index) => {
    const sizes = kernel.sizes(shape);
    const bound: Record<string, GPUBufferBinding> = {};
    for (const [name, ref] of Object.entries(buffers)) {
      const size = (sizes[name] ?? 0) * 4;
      if (size > limit) {
        throw new EngineRefused(
          `${kernel.name} binds ${size} bytes as "${name}", and ${gpu.adapter.name} binds at most ${limit}`,
          'use another adapter, a smaller --context or a smaller --set chunk',
        );
      }
      bound[name] = 'buffer' in ref ? { buffer: ref.buffer, offset: ref.offset, size } : { buffer: ref, size };
    }
    return { ...programs.bind(compiled[index]!, launches[index]!, bound), boundBytes: touchedBytes(kernel, shape) };
  });
}
