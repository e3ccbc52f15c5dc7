/** The limits gate: whether the geometry, workgroup memory and bindings of every served shape fit the device. */
import type { Contract, Launch, Shape } from '../../kernels/contract.ts';
import { launchOf, type Subject } from './subject.ts';
import { Tally } from './tally.ts';

export type Limits = Readonly<Record<string, number>>;

/** What a launch needs more of than the device has; empty when it fits. */
export function limitFault(limits: Limits, contract: Contract, shape: Shape, launch: Launch): string {
  const { kernel } = contract;
  const [x, y, z] = launch.workgroupSize;
  const sizes = kernel.sizes(shape);
  const largest = kernel.bindings.map(({ name }) => (sizes[name] ?? 0) * 4).reduce((a, b) => Math.max(a, b), 0);
  const needs: [what: string, limit: string, need: number][] = [
    ['workgroups a dimension', 'maxComputeWorkgroupsPerDimension', Math.max(...launch.workgroups)],
    ['workgroup width', 'maxComputeWorkgroupSizeX', x],
    ['workgroup height', 'maxComputeWorkgroupSizeY', y],
    ['workgroup depth', 'maxComputeWorkgroupSizeZ', z],
    ['lanes a workgroup', 'maxComputeInvocationsPerWorkgroup', x * y * z],
    ['bytes of workgroup memory', 'maxComputeWorkgroupStorageSize', launch.workgroupBytes],
    ['storage bindings', 'maxStorageBuffersPerShaderStage', kernel.bindings.length],
    ['bytes in one binding', 'maxStorageBufferBindingSize', largest],
    ['bytes in one buffer', 'maxBufferSize', largest],
    ['bytes of uniforms', 'maxUniformBufferBindingSize', Math.ceil(launch.params.byteLength / 16) * 16],
  ];
  for (const [what, limit, need] of needs) {
    const most = limits[limit];
    if (most === undefined) return `the device states no ${limit}`;
    if (need > most) return `needs ${need} ${what}, the device has ${most} (${limit})`;
  }
  return '';
}

export interface LimitsOutcome {
  readonly tally: Tally;
  /** Edges that a variant declined or that do not fit the device. */
  readonly refusedEdges: number;
}

/** Holds every shape and variant to the device's limits. A served shape may not be refused; edges are counted. */
export function limitsGate(subject: Subject, limits: Limits): LimitsOutcome {
  const { contract } = subject;
  const tally = new Tally();
  let refusedEdges = 0;
  for (const { name, role, shape } of contract.shapes) {
    for (const variant of contract.kernel.variants) {
      const launch = launchOf(contract, shape, variant);
      const fault = launch instanceof Error ? `refused: ${launch.message}` : limitFault(limits, contract, shape, launch);
      if (role === 'edge') {
        if (fault !== '') refusedEdges++;
      } else {
        tally.add(1, `${name}/${variant}`, fault);
      }
    }
  }
  return { tally, refusedEdges };
}
