/** What the engine knows about one adapter, as a record. */
import { RECORD_SCHEMA, type AdapterRecord, type Evidence } from '../protocol.ts';
import type { ListedAdapter } from './instance.ts';

/**
 * `software` when a CPU computes: Dawn's own flag, or a name of a CPU driver (Mesa's vendor id is shared by its CPU and
 * GPU drivers, so the vendor tells nothing).
 */
export function evidenceOf(info: GPUAdapterInfo, name: string): Evidence {
  const text = `${name} ${info.architecture} ${info.description}`;
  return info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i.test(text) ? 'software' : 'gpu';
}

/** Every limit of an adapter or device, by name. */
export function limitsOf(limits: GPUSupportedLimits): Record<string, number> {
  const found: Record<string, number> = {};
  // The limits are accessors on the prototype, so Object.entries sees none of them.
  for (const key in limits) {
    const value: unknown = Reflect.get(limits, key);
    if (typeof value === 'number') found[key] = value;
  }
  return found;
}

/** Builds the record of an adapter. `driverFiles` is the VK_DRIVER_FILES value in force, null for the loader's default. */
export function adapterRecordOf(adapter: GPUAdapter, listed: ListedAdapter, driverFiles: string | null): AdapterRecord {
  const info = adapter.info;
  return {
    schema: RECORD_SCHEMA,
    kind: 'adapter',
    name: listed.name,
    vendor: info.vendor,
    architecture: info.architecture,
    device: info.device,
    description: info.description,
    backend: listed.backend,
    evidence: evidenceOf(info, listed.name),
    // Dawn puts the driver's own name and version in the description; no other place tells it.
    driver: info.description || 'unknown',
    driverFiles,
    features: [...adapter.features].toSorted(),
    limits: limitsOf(adapter.limits),
    subgroupMinSize: info.subgroupMinSize ?? null,
    subgroupMaxSize: info.subgroupMaxSize ?? null,
  };
}
