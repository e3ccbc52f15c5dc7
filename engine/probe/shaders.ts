/** The probe's own shaders as kernels, so that they are compiled, bound and recorded like any other. They compute nothing for a model. */
import { readFileSync } from 'node:fs';
import type { BindingSpec, Kernel } from '../../kernels/contract.ts';
import { ownShader } from '../../kernels/plant.ts';
import { foldGrid } from '../../kernels/shared/grid.ts';
import type { Dispatch, Programs } from '../gpu/programs.ts';

export interface ProbeShader {
  /** NAME.wgsl of this folder. */
  readonly name: 'read-stream' | 'fill-index' | 'add-step';
  readonly bindings: readonly BindingSpec[];
  readonly constants?: Readonly<Record<string, number>>;
  readonly groups: number;
  readonly lanes: number;
}

/** Reads a buffer of `bytes` bytes, `vectors` vec4 loads a lane. */
export function readShader(bytes: number, vectors: number): ProbeShader {
  const bindings = [
    { name: 'data', access: 'read', type: 'u32' },
    { name: 'sum', access: 'read_write', type: 'u32' },
  ] as const;
  return { name: 'read-stream', bindings, constants: { VECTORS: vectors }, groups: bytes / 16 / 256 / vectors, lanes: 256 };
}

/** Compiles one of the folder's shaders and binds it. */
export async function probeDispatch(programs: Programs, shader: ProbeShader, buffers: Readonly<Record<string, GPUBuffer>>): Promise<Dispatch> {
  const { name, bindings, constants = {}, groups, lanes } = shader;
  const launch = {
    kernel: name,
    variant: 'probe',
    entryPoint: name.replaceAll('-', '_'),
    constants,
    params: new Uint32Array(),
    workgroups: foldGrid(groups),
    workgroupSize: [lanes, 1, 1],
    workgroupBytes: 0,
  } as const;
  const kernel: Kernel = {
    name,
    group: 'datamove',
    summary: 'a probe',
    bindings,
    includes: [],
    params: [],
    variants: ['probe'],
    sizes: () => ({}),
    launch: () => launch,
  };
  const source = readFileSync(new URL(`${name}.wgsl`, import.meta.url), 'utf8');
  return programs.bind(await programs.compile(kernel, launch, { [ownShader(kernel)]: source }), launch, buffers);
}
