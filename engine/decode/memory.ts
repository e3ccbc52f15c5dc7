/** The buffers of one decode: state that lives from token to token, and scratch that one pass overwrites. */
import type { Gpu } from '../gpu/device.ts';
import type { Stream } from '../gpu/stream.ts';
import type { ModelConfig } from '../model/config.ts';
import { jointLayout, jointSpecs } from '../model/joint.ts';
import { weightSpecs, type QuantisedSpec } from '../model/tensors.ts';

const usage = (): number => GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;

/** Roles of which no two hold anything at once, so that one buffer serves all of them. */
export interface SharedRoles {
  readonly roles: readonly string[];
  /** 4-byte elements a row of the widest. */
  readonly width: number;
}

/**
 * The widest roles of a layer: what the mixer has done with before the MLP begins. At 1,024 rows of 2b these buffers take 84 MB, and
 * would take 181 without sharing.
 */
export function sharedRoles(config: ModelConfig): SharedRoles[] {
  const { convChannels, heads, headDim, intermediate, hidden } = config;
  const specs = new Map(weightSpecs(config).map((spec) => [spec.name, spec]));
  const products = jointSpecs(config).map(({ members }) => jointLayout(members.map((member) => specs.get(member) as QuantisedSpec)).rows);
  return [
    { roles: ['delta net input', 'attention input', 'mlp input'], width: Math.max(...products) },
    { roles: ['qkv convolved', 'queries rotated', 'mlp activated'], width: Math.max(convChannels, heads * headDim, intermediate) },
    { roles: ['mixer output', 'mlp output'], width: hidden },
  ];
}

/** Scratch by role, one buffer a role, as large as the largest pass needs; made on first use. */
export class Scratch {
  readonly #gpu: Gpu;
  readonly #rows: number;
  readonly #shared: ReadonlyMap<string, SharedRoles>;
  readonly #buffers = new Map<string, GPUBuffer>();

  /**
   * @param rows the most rows of any pass.
   * @param shared which roles of `rows` have a buffer in common.
   */
  constructor(gpu: Gpu, rows: number, shared: readonly SharedRoles[]) {
    this.#gpu = gpu;
    this.#rows = rows;
    this.#shared = new Map(shared.flatMap((each) => each.roles.map((role) => [role, each])));
  }

  /** The buffer of a role that takes `width` 4-byte elements a row. A role's width never changes. */
  rows(role: string, width: number): GPUBuffer {
    const shared = this.#shared.get(role);
    return this.#get(shared?.roles.join(' / ') ?? role, this.#rows * (shared?.width ?? width));
  }

  /** The buffer of a role of `elements` 4-byte elements, whatever the rows. */
  fixed(role: string, elements: number): GPUBuffer {
    return this.#get(role, elements);
  }

  #get(role: string, elements: number): GPUBuffer {
    let buffer = this.#buffers.get(role);
    if (!buffer) this.#buffers.set(role, (buffer = this.#gpu.device.createBuffer({ label: role, size: elements * 4, usage: usage() })));
    return buffer;
  }
}

export interface LinearState {
  /** Raw columns before the present one, [taps − 1, channels], oldest first. */
  readonly conv: GPUBuffer;
  /** [value heads, value dim, key dim]. */
  readonly recurrent: GPUBuffer;
}

export interface CacheState {
  /** [context, kv heads · head dim] each. */
  readonly keys: GPUBuffer;
  readonly values: GPUBuffer;
}

/** Per layer, what the past left. */
export class DecodeState {
  readonly linear: ReadonlyMap<number, LinearState>;
  readonly caches: ReadonlyMap<number, CacheState>;

  constructor(gpu: Gpu, config: ModelConfig, context: number) {
    const make = (label: string, elements: number): GPUBuffer => gpu.device.createBuffer({ label, size: elements * 4, usage: usage() });
    const linear = new Map<number, LinearState>();
    const caches = new Map<number, CacheState>();
    for (const [layer, type] of config.layerTypes.entries()) {
      if (type === 'linear_attention') {
        linear.set(layer, {
          conv: make(`conv state ${layer}`, (config.convTaps - 1) * config.convChannels),
          recurrent: make(`recurrent state ${layer}`, config.gdnValueHeads * config.gdnValueDim * config.gdnKeyDim),
        });
      } else {
        const size = context * config.kvHeads * config.headDim;
        caches.set(layer, { keys: make(`key cache ${layer}`, size), values: make(`value cache ${layer}`, size) });
      }
    }
    this.linear = linear;
    this.caches = caches;
  }

  /** Records the return to an empty past: all zero. */
  clear(stream: Stream): void {
    for (const state of this.linear.values()) {
      stream.clear(state.conv);
      stream.clear(state.recurrent);
    }
    for (const state of this.caches.values()) {
      stream.clear(state.keys);
      stream.clear(state.values);
    }
  }
}

/**
 * cos and sin of every position's rotation, [context, rotary]: per position cos[rotary/2], then sin[rotary/2]. Computed in
 * float64 and rounded once: WGSL bounds sin and cos on [−π, π] only (one driver erred by 4e-4 at 4,441 radians).
 */
export function ropeTable(context: number, rotary: number, theta: number): Float32Array<ArrayBuffer> {
  const half = rotary / 2;
  const table = new Float32Array(context * rotary);
  for (let position = 0; position < context; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * theta ** (-i / half);
      table[position * rotary + i] = Math.cos(angle);
      table[position * rotary + half + i] = Math.sin(angle);
    }
  }
  return table;
}
