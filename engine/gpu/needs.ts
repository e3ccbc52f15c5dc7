/**
 * What a kernel may need of a device beyond what every device has: the Dawn toggles and features that it is asked with, and the WGSL that
 * switches them on. A device is opened with these only where a setting or a contract asks, so that nothing else changes.
 */
import type { DeviceNeed } from '../../kernels/contract.ts';
import { EngineRefused } from '../errors.ts';
import type { Gpu } from './device.ts';

interface Need {
  /** For people. */
  readonly what: string;
  readonly toggles: readonly string[];
  readonly features: readonly string[];
  /** Directives at the head of the shader. */
  readonly wgsl: readonly string[];
  /** What an adapter that has the features still lacks; empty when nothing. */
  readonly lack: (adapter: Pick<GPUAdapter, 'info' | 'limits'>) => string;
}

/** A kind of product that a matrix unit does, as Dawn lists it; @webgpu/types does not know it yet. */
interface MatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/** What qmm-q4-matrix takes: most devices have 32 KiB. */
const MATRIX_WORKGROUP_BYTES = 39_424;

export const NEEDS: Readonly<Record<DeviceNeed, Need>> = {
  'subgroup-matrix': {
    what: 'subgroup matrices',
    // Without the second toggle Dawn offers no shader-f16 on NVIDIA; the first is what experimental features take.
    toggles: ['allow_unsafe_apis', 'vulkan_enable_f16_on_nvidia'],
    features: ['shader-f16', 'subgroups', 'chromium-experimental-subgroup-matrix'],
    wgsl: ['enable f16;', 'enable subgroups;', 'enable chromium_experimental_subgroup_matrix;'],
    lack: ({ info, limits }) => {
      const workgroup = limits.maxComputeWorkgroupStorageSize;
      if (workgroup < MATRIX_WORKGROUP_BYTES) return `${MATRIX_WORKGROUP_BYTES} bytes of workgroup memory (it has ${workgroup})`;
      const { subgroupMinSize: least, subgroupMaxSize: most } = info;
      if (least !== 32 || most !== 32) return `subgroups of 32 lanes alone (it has ${least} to ${most})`;
      const configs = Array.from((info as { subgroupMatrixConfigs?: Iterable<MatrixConfig> }).subgroupMatrixConfigs ?? []);
      const served = configs.some(
        (each) => each.componentType === 'f16' && each.resultComponentType === 'f32' && each.M === 16 && each.N === 16 && each.K === 16,
      );
      return served ? '' : 'products of 16 by 16 by 16 halves with float32 sums';
    },
  },
};

/** What an adapter, opened with the need's toggles, lacks of it; empty when nothing. */
export function lackOf(need: DeviceNeed, adapter: GPUAdapter): string {
  const { features, lack } = NEEDS[need];
  const absent = features.filter((feature) => !adapter.features.has(feature));
  return absent.length > 0 ? absent.join(', ') : lack(adapter);
}

/** @throws EngineRefused where the device lacks what is needed. `asked` is what asked for it. */
export function refuseUnlessServed(gpu: Gpu, need: DeviceNeed, asked: string): void {
  const lack = gpu.lack(need);
  if (lack !== '')
    throw new EngineRefused(`${asked} needs ${NEEDS[need].what}, and ${gpu.adapter.name} lacks ${lack}`, `leave ${asked} out, or name another --adapter`);
}
