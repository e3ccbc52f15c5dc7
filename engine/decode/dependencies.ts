/**
 * Which dispatch of a pass waits for which. Dawn tracks a buffer as a whole, so two dispatches depend on each other when one writes a
 * buffer that the other binds, whatever parts they bind: read after write, write after read, write after write. Weights and other
 * buffers that nobody writes order nothing.
 */
import type { Access } from '../../kernels/contract.ts';
import type { Step } from './step.ts';

/** One dispatch as far as order goes. */
export interface Use {
  readonly kernel: string;
  readonly variant: string;
  readonly bindings: readonly { readonly buffer: string; readonly access: Access }[];
}

export type Hazard = 'read-after-write' | 'write-after-read' | 'write-after-write';

/** Dispatch `to` may not begin before `from` has ended, because of one buffer. Dispatches by their place in the pass. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly buffer: string;
  readonly hazard: Hazard;
}

/** Who writes a buffer and who reads it. A `read_write` binding is a producer. */
export interface BufferRow {
  readonly buffer: string;
  readonly producers: readonly number[];
  readonly consumers: readonly number[];
  /** Whether the pass uses what was in it before the pass. */
  readonly carried: boolean;
}

export interface Dependencies {
  readonly uses: readonly Use[];
  readonly edges: readonly Edge[];
  readonly buffers: readonly BufferRow[];
  /** Dispatches one after the other. */
  readonly serial: number;
  /** Runs of dispatches without a barrier between them, as a driver with hazard-only barriers executes the order that was recorded. */
  readonly slots: number;
  /** The longest chain of edges: what overlapping everything else would leave with these buffers, in the best order. */
  readonly critical: number;
  /** The longest chain of reads after writes: what would be left if no buffer were ever used twice. */
  readonly dataCritical: number;
}

/** @throws Error when two buffers share a label, since then their edges would run together. */
export function usesOf(steps: readonly Step[]): Use[] {
  const labels = new Map<string, GPUBuffer>();
  return steps.map(({ kernel, shape, variant, buffers }) => ({
    kernel: kernel.name,
    variant: kernel.launch(shape, variant).variant,
    bindings: kernel.bindings.map(({ name, access }) => {
      const ref = buffers[name];
      if (!ref) throw new Error(`${kernel.name}: binding "${name}" has no buffer`);
      const buffer = 'buffer' in ref ? ref.buffer : ref;
      if ((labels.get(buffer.label) ?? buffer) !== buffer) throw new Error(`two buffers are labelled "${buffer.label}"`);
      labels.set(buffer.label, buffer);
      return { buffer: buffer.label, access };
    }),
  }));
}

interface BufferState {
  writer: number | undefined;
  /** Since the last write. */
  readers: number[];
  readonly producers: number[];
  readonly consumers: number[];
  carried: boolean;
}

/** The table of a pass whose dispatches are recorded in this order. */
export function dependenciesOf(uses: readonly Use[]): Dependencies {
  const states = new Map<string, BufferState>();
  const edges: Edge[] = [];
  let slots = uses.length === 0 ? 0 : 1;
  for (const [to, use] of uses.entries()) {
    let barrier = false;
    for (const { buffer, access } of use.bindings) {
      const state = states.get(buffer) ?? { writer: undefined, readers: [], producers: [], consumers: [], carried: false };
      states.set(buffer, state);
      const before = edges.length;
      if (access === 'read') {
        if (state.writer !== undefined) edges.push({ from: state.writer, to, buffer, hazard: 'read-after-write' });
        else state.carried = true;
        // Later readers of what a barrier has made visible need none of their own.
        barrier ||= edges.length > before && state.readers.length === 0;
        state.readers.push(to);
        state.consumers.push(to);
      } else {
        if (state.writer !== undefined) edges.push({ from: state.writer, to, buffer, hazard: 'write-after-write' });
        for (const from of state.readers) edges.push({ from, to, buffer, hazard: 'write-after-read' });
        barrier ||= edges.length > before;
        state.writer = to;
        state.readers = [];
        state.producers.push(to);
      }
    }
    if (barrier) slots++;
  }
  const buffers = Array.from(states, ([buffer, { producers, consumers, carried }]) => ({ buffer, producers, consumers, carried }));
  const data = edges.filter(({ hazard }) => hazard === 'read-after-write');
  return { uses, edges, buffers, serial: uses.length, slots, critical: longestPath(uses.length, edges), dataCritical: longestPath(uses.length, data) };
}

/** Dispatches on the longest path. Edges go forward, and come in the order of their ends. */
function longestPath(count: number, edges: readonly Edge[]): number {
  const length = Array<number>(count).fill(1);
  for (const { from, to } of edges) length[to] = Math.max(length[to]!, length[from]! + 1);
  return length.reduce((longest, each) => Math.max(longest, each), 0);
}

/**
 * Holds a table to what was really recorded.
 * @returns the first difference, in words; empty when there is none.
 */
export function recordedFault(table: Dependencies, recorded: readonly Use[]): string {
  const name = (use: Use | undefined): string => (use ? `${use.kernel}/${use.variant}` : 'nothing');
  for (let i = 0; i < Math.max(table.uses.length, recorded.length); i++) {
    const [planned, found] = [table.uses[i], recorded[i]];
    if (name(planned) !== name(found)) return `dispatch ${i} is ${name(planned)} in the table and ${name(found)} as recorded`;
    const text = (use: Use): string => use.bindings.map(({ buffer, access }) => `${access} "${buffer}"`).join(', ');
    if (text(planned!) !== text(found!)) return `dispatch ${i}, ${name(found)}, binds ${text(planned!)} in the table and ${text(found!)} as recorded`;
  }
  const real = dependenciesOf(recorded);
  return (
    listFault('edge', table.edges.map(edgeText), real.edges.map(edgeText)) ||
    listFault('buffer', table.buffers.map(rowText), real.buffers.map(rowText)) ||
    (['serial', 'slots', 'critical', 'dataCritical'] as const)
      .flatMap((slot) => (table[slot] === real[slot] ? [] : [`${slot} is ${table[slot]} in the table and ${real[slot]} as recorded`]))
      .join('; ')
  );
}

function edgeText({ from, to, buffer, hazard }: Edge): string {
  return `${from} → ${to} through "${buffer}" (${hazard})`;
}

function rowText({ buffer, producers, consumers, carried }: BufferRow): string {
  return `"${buffer}" from ${producers.join(',')} to ${consumers.join(',')}${carried ? ', carried' : ''}`;
}

function listFault(what: string, planned: readonly string[], recorded: readonly string[]): string {
  const [inTable, inRecording] = [new Set(planned), new Set(recorded)];
  const lost = recorded.find((text) => !inTable.has(text));
  if (lost !== undefined) return `the table lacks the ${what} ${lost}`;
  const invented = planned.find((text) => !inRecording.has(text));
  return invented === undefined ? '' : `the table has the ${what} ${invented}, which was not recorded`;
}
