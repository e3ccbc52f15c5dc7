/** Opens one adapter and its device, and remembers the first thing that goes wrong with it. */
import type { DeviceNeed } from '../../kernels/contract.ts';
import { EngineBroken, EngineRefused, EngineTimeout, withTimeout } from '../errors.ts';
import type { AdapterRecord } from '../protocol.ts';
import { adapterRecordOf, limitsOf } from './adapter-record.ts';
import { countBuffers, type BufferBytes } from './buffer-bytes.ts';
import { dawnInstance, listAdapters, slug, type ListedAdapter } from './instance.ts';
import { lackOf, NEEDS } from './needs.ts';
import { Pending, waitLimitMs } from './pending.ts';

/** Asked for where the adapter has them; nothing in the engine may need one without checking `device.features`. */
const WANTED_FEATURES = ['subgroups', 'subgroup-size-control', 'timestamp-query'] as const;

const NAP_MS = 0.5;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

export interface OpenOptions {
  /** Case-insensitive part of the adapter's name; absent: the best GPU. */
  readonly adapter?: string | undefined;
  /** Leave to run on a CPU Vulkan driver, whose results are never GPU evidence. */
  readonly allowSoftware: boolean;
  /** VK_DRIVER_FILES to open under. Works in the main thread of a process that has a Vulkan loader. */
  readonly driverFiles?: string | undefined;
  /** What the work needs of the device beyond what every device has; absent: nothing. A device that lacks it opens all the same. */
  readonly needs?: readonly DeviceNeed[] | undefined;
}

/** What is open in this process. */
const open = new Set<Gpu>();

/**
 * Destroys what is still open, and with it waits for work that is under way: a process that ends under SwiftShader's threads dies of SIGSEGV,
 * whatever its own status was to be. Waits for ever where a device hangs.
 */
export function closeDevices(): void {
  for (const gpu of open) gpu.close();
}

/**
 * An opened device. Its first failure is its end: waits that are under way end with it, and `check()` throws it from then on, so that
 * nothing is submitted and nothing computed is believed.
 */
export class Gpu {
  readonly device: GPUDevice;
  readonly adapter: AdapterRecord;
  readonly buffers: BufferBytes;
  /** Dispatches that were submitted. */
  readonly pending = new Pending();
  readonly #limitMs: (pending: number) => number;
  readonly #waiting = new Set<(failure: Error) => void>();
  #failure: EngineBroken | EngineTimeout | undefined;
  #closing = false;
  #waits = 0;
  #compiling = 0;
  #napping = false;
  readonly #lacks: ReadonlyMap<DeviceNeed, string>;

  /**
   * @param limitMs how long a wait may take; absent: by what is pending. Tests set it lower.
   * @param lacks what it lacks of each need that it was opened with.
   */
  constructor(
    device: GPUDevice,
    adapter: AdapterRecord,
    limitMs: (pending: number) => number = (pending) => waitLimitMs(adapter.evidence, pending),
    lacks: ReadonlyMap<DeviceNeed, string> = new Map(),
  ) {
    this.device = device;
    this.adapter = adapter;
    this.#limitMs = limitMs;
    this.#lacks = lacks;
    this.buffers = countBuffers(device);
    open.add(this);
    device.addEventListener('uncapturederror', (event) => this.fail(`GPU error on ${adapter.name}: ${event.error.message}`));
    void device.lost.then((info) => {
      if (!this.#closing) this.fail(`the device ${adapter.name} was lost (${info.reason}): ${info.message}`);
    });
  }

  /** What the device lacks of a need; empty when it serves it. */
  lack(need: DeviceNeed): string {
    return this.#lacks.get(need) ?? `${NEEDS[need].what}: it was opened without them`;
  }

  /** Records a failure; the first one stays. */
  fail(reason: string | EngineTimeout): void {
    if (this.#failure) return;
    this.#failure = typeof reason === 'string' ? new EngineBroken(reason) : reason;
    for (const end of this.#waiting) end(this.#failure);
  }

  /** @throws EngineBroken or EngineTimeout: the first failure. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /**
   * Waits for work of this device. While a promise is pending dawn.node polls in a `setImmediate` loop, which keeps one core
   * busy; a CPU driver needs that core, so there each turn of the loop naps
   * (SwiftShader with every core busy: 18 s of processor time became 10 s). A GPU's wait is never slowed.
   * @throws EngineTimeout naming `what` when it takes longer than what is pending may: the device is then of no more use. EngineBroken when
   *   the device fails meanwhile: a fence of a lost device may never come.
   */
  async wait<T>(work: Promise<T>, what: string): Promise<T> {
    this.#waits++;
    if (this.adapter.evidence === 'software' && !this.#napping) this.#nap();
    let end: ((failure: Error) => void) | undefined;
    const failed = new Promise<never>((_, reject) => this.#waiting.add((end = reject)));
    // A wait that begins after the failure ends at once.
    if (this.#failure) end?.(this.#failure);
    const limit = this.#limitMs(this.pending.count + this.#compiling);
    try {
      return await withTimeout(Promise.race([work, failed]), limit, `${what} on ${this.adapter.name}`);
    } catch (error) {
      if (error instanceof EngineTimeout) this.fail(error);
      throw error;
    } finally {
      if (end) this.#waiting.delete(end);
      this.#waits--;
    }
  }

  /** Waits for a pipeline; many may be under way, and each is given time for all of them. @throws as `wait`. */
  async waitCompiled<T>(pipeline: Promise<T>, what: string): Promise<T> {
    this.#compiling++;
    try {
      // Those that are asked for together are all counted before the first limit is set.
      await Promise.resolve();
      return await this.wait(pipeline, what);
    } finally {
      this.#compiling--;
    }
  }

  #nap(): void {
    this.#napping = this.#waits > 0;
    if (!this.#napping) return;
    Atomics.wait(NEVER, 0, 0, NAP_MS);
    setImmediate(() => this.#nap());
  }

  /** Destroys the device. Later work on it throws. */
  close(): void {
    this.#closing = true;
    open.delete(this);
    this.device.destroy();
    this.fail(`the device ${this.adapter.name} was closed`);
  }
}

/**
 * Opens an adapter and a device with all of the adapter's limits.
 * @throws EngineRefused when no adapter opens, none matches, or only software does and `allowSoftware` is false.
 */
export async function openGpu(options: OpenOptions): Promise<Gpu> {
  if (options.driverFiles !== undefined) process.env['VK_DRIVER_FILES'] = options.driverFiles;
  // Without it Mesa and the loader print warnings, and some drivers refuse to start.
  process.env['XDG_RUNTIME_DIR'] ??= '/tmp';
  const listed = await listAdapters();
  const wanted = options.adapter?.toLowerCase();
  if (listed.length === 0) throw noAdapter(options.adapter, listed);
  const matching = listed.filter((entry) => wanted === undefined || entry.name.toLowerCase().includes(wanted));
  const needs = options.needs ?? [];
  const chosen = wanted === undefined ? await bestAdapter(listed, needs) : await namedAdapter(matching, needs);
  if (!chosen) throw noAdapter(options.adapter, listed);
  const driverFiles = process.env['VK_DRIVER_FILES'] ?? null;
  const record = adapterRecordOf(chosen.adapter, chosen.listed, driverFiles);
  if (record.evidence === 'software' && !options.allowSoftware) {
    throw new EngineRefused(
      `the adapter "${record.name}" is a CPU driver, which is not GPU evidence`,
      'add --allow-software, or name a GPU with --adapter NAME',
    );
  }
  const lacks = new Map(needs.map((need) => [need, lackOf(need, chosen.adapter)]));
  const needed = needs.filter((need) => lacks.get(need) === '').flatMap((need) => NEEDS[need].features);
  const features = [...WANTED_FEATURES.filter((feature) => chosen.adapter.features.has(feature)), ...needed];
  const device = await chosen.adapter.requestDevice({
    requiredFeatures: [...new Set(features)] as GPUFeatureName[],
    requiredLimits: limitsOf(chosen.adapter.limits),
  });
  return new Gpu(device, record, undefined, lacks);
}

interface Chosen {
  readonly adapter: GPUAdapter;
  readonly listed: ListedAdapter;
}

/** Dawn orders discrete before integrated before CPU when asked for high performance. */
async function bestAdapter(listed: readonly ListedAdapter[], needs: readonly DeviceNeed[]): Promise<Chosen | undefined> {
  const adapter = await dawnInstance([]).requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) return undefined;
  const named = listed.find((entry) => slug(entry.name) === adapter.info.device);
  if (!named) return { adapter, listed: { backend: 'unknown', name: adapter.info.description || adapter.info.device } };
  // Asked for by name, since an instance is set up for the driver that it is to open.
  return namedAdapter([named], needs);
}

/** The first GPU among adapters of a matching name, else the first software one. */
async function namedAdapter(matching: readonly ListedAdapter[], needs: readonly DeviceNeed[]): Promise<Chosen | undefined> {
  const toggles = needs.flatMap((need) => NEEDS[need].toggles);
  let software: Chosen | undefined;
  for (const entry of matching) {
    const adapter = await dawnInstance([`backend=${entry.backend}`, `adapter=${entry.name}`], toggles).requestAdapter();
    if (!adapter) continue;
    if (adapterRecordOf(adapter, entry, null).evidence === 'gpu') return { adapter, listed: entry };
    software ??= { adapter, listed: entry };
  }
  return software;
}

function noAdapter(wanted: string | undefined, listed: readonly ListedAdapter[]): EngineRefused {
  const next = 'fleet engine devices --allow-software lists what opens on this host';
  if (wanted === undefined) return new EngineRefused('no WebGPU adapter opens on this host', next);
  const names = listed.map((entry) => `"${entry.name}"`).join(', ');
  return new EngineRefused(`no adapter's name contains "${wanted}" (${names === '' ? 'none opens' : `there is ${names}`})`, next);
}
