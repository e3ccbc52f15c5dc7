/**
 * Compiles launches into pipelines, and binds buffers to them. Layouts are explicit and equal launches share a pipeline:
 * recreating identical WGSL costs the full compilation again in Dawn, which keeps no cache here.
 */
import type { Kernel, Launch } from '../../kernels/contract.ts';
import { EngineBroken, ShaderInvalid } from '../errors.ts';
import type { Gpu } from './device.ts';
import { kernelSource, type Edits } from './kernel-source.ts';

/** A kernel's variant, compiled for one set of pipeline constants. */
export interface Program {
  readonly kernel: Kernel;
  readonly variant: string;
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  readonly hasParams: boolean;
}

/** A program with its buffers bound: what a stream records, as often as wanted, without allocating. */
export interface Dispatch {
  readonly kernel: string;
  readonly variant: string;
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number, number];
  /** Of all storage bindings together. */
  readonly boundBytes: number;
}

const programsOf = new WeakMap<Gpu, Programs>();

/** The programs that single launches on one device share. */
export function programsFor(gpu: Gpu): Programs {
  let programs = programsOf.get(gpu);
  if (!programs) programsOf.set(gpu, (programs = new Programs(gpu)));
  return programs;
}

export class Programs {
  readonly #gpu: Gpu;
  readonly #cache = new Map<string, Promise<Program>>();

  constructor(gpu: Gpu) {
    this.#gpu = gpu;
  }

  /**
   * The pipeline of a launch.
   * @param edits texts in place of the kernel's shader files (planted faults).
   * @throws ShaderInvalid with file and line when the WGSL does not compile.
   */
  compile(kernel: Kernel, launch: Launch, edits: Edits = {}): Promise<Program> {
    const source = kernelSource(kernel, edits);
    const constants = Object.entries(launch.constants).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify([kernel.name, launch.variant, launch.entryPoint, constants, launch.params.length > 0, source.text]);
    const known = this.#cache.get(key);
    if (known) return known;
    const program = this.#gpu.waitCompiled(this.#build(kernel, launch, edits), `compiling ${kernel.name} (${launch.variant})`);
    this.#cache.set(key, program);
    return program;
  }

  async #build(kernel: Kernel, launch: Launch, edits: Edits): Promise<Program> {
    const device = this.#gpu.device;
    const source = kernelSource(kernel, edits);
    const label = `${kernel.name}/${launch.variant}`;
    const hasParams = launch.params.length > 0;
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ label, code: source.text });
    const moduleError = device.popErrorScope();
    const entries: GPUBindGroupLayoutEntry[] = kernel.bindings.map((spec, binding) => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: spec.access === 'read' ? 'read-only-storage' : 'storage' },
    }));
    if (hasParams) entries.push({ binding: entries.length, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'uniform' } });
    const layout = device.createBindGroupLayout({ label, entries });
    const pipeline = device.createComputePipelineAsync({
      label,
      layout: device.createPipelineLayout({ label, bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: launch.entryPoint, constants: { ...launch.constants } },
    });
    // Handled below; without this the rejection would count as unhandled while the messages are fetched.
    pipeline.catch(() => undefined);
    const failure = await moduleError;
    if (failure) {
      const messages = (await module.getCompilationInfo()).messages.filter((message) => message.type === 'error');
      const lines = messages.map((message) => `${source.locate(message.lineNum)}:${message.linePos}: ${message.message}`);
      throw new ShaderInvalid(`${label} does not compile: ${lines.length > 0 ? lines.join('; ') : failure.message}`);
    }
    try {
      return { kernel, variant: launch.variant, pipeline: await pipeline, layout, hasParams };
    } catch (cause) {
      throw new ShaderInvalid(`${label}: no pipeline for entry point ${launch.entryPoint}: ${cause instanceof Error ? cause.message : String(cause)}`, {
        cause,
      });
    }
  }

  /**
   * Binds buffers to a program for one launch.
   * @param buffers a buffer, or a part of one, for each storage binding by name.
   * @throws EngineBroken when a binding has no buffer.
   */
  bind(program: Program, launch: Launch, buffers: Readonly<Record<string, GPUBuffer | GPUBufferBinding>>): Dispatch {
    const { kernel } = program;
    const label = `${kernel.name}/${launch.variant}`;
    let boundBytes = 0;
    const entries: GPUBindGroupEntry[] = kernel.bindings.map((spec, binding) => {
      const bound = buffers[spec.name];
      if (!bound) throw new EngineBroken(`${label}: binding "${spec.name}" has no buffer`);
      const resource: GPUBufferBinding = 'buffer' in bound ? bound : { buffer: bound };
      boundBytes += resource.size ?? resource.buffer.size - (resource.offset ?? 0);
      return { binding, resource };
    });
    if (program.hasParams) entries.push({ binding: entries.length, resource: { buffer: this.#uniform(launch.params, label) } });
    const bindGroup = this.#gpu.device.createBindGroup({ label, layout: program.layout, entries });
    return { kernel: kernel.name, variant: launch.variant, pipeline: program.pipeline, bindGroup, workgroups: launch.workgroups, boundBytes };
  }

  #uniform(params: Uint32Array, label: string): GPUBuffer {
    // A uniform struct's size is rounded up to 16 bytes.
    const size = Math.ceil(params.byteLength / 16) * 16;
    const buffer = this.#gpu.device.createBuffer({ label: `${label} params`, size, usage: GPUBufferUsage.UNIFORM, mappedAtCreation: true });
    new Uint32Array(buffer.getMappedRange()).set(params);
    buffer.unmap();
    return buffer;
  }
}
