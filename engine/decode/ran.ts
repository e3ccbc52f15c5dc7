/** Which variants a decode really ran, by shape: what its record says of itself. */
import type { Shape } from '../../kernels/contract.ts';
import { loadKernel } from '../../kernels/registry.ts';
import { kernelSource } from '../gpu/kernel-source.ts';
import type { DecodeRecord } from '../protocol.ts';
import type { Step } from './step.ts';

type Ran = NonNullable<DecodeRecord['ran']>;

/** Dispatches of one kernel, variant and shape. */
export interface RanRow {
  readonly kernel: string;
  readonly variant: string;
  readonly shape: string;
  readonly dispatches: number;
}

/** A shape as `k=v,…`, as `bench --shape` takes it. */
export function shapeText(shape: Shape): string {
  return Object.entries(shape)
    .map(([field, value]) => `${field}=${value}`)
    .join(',');
}

/** Rows of the steps of a pass, in the order of first appearance. */
export function ranOf(steps: readonly Step[]): RanRow[] {
  const rows = new Map<string, RanRow>();
  for (const { kernel, shape, variant } of steps) {
    const row = { kernel: kernel.name, variant: kernel.launch(shape, variant).variant, shape: shapeText(shape), dispatches: 1 };
    const key = `${row.kernel}/${row.variant} ${row.shape}`;
    rows.set(key, { ...row, dispatches: (rows.get(key)?.dispatches ?? 0) + 1 });
  }
  return [...rows.values()];
}

/** The rows of a prompt and of a token with each variant's family, by its kernel's contract, and the kernels that use subgroups. */
export async function ranRecord(prompt: readonly RanRow[], token: readonly RanRow[]): Promise<Ran> {
  const families = new Map<string, string>();
  const subgroups: string[] = [];
  for (const name of new Set([...prompt, ...token].map(({ kernel }) => kernel))) {
    const { kernel, contract } = await loadKernel(name);
    for (const [family, variants] of Object.entries(contract?.families ?? {})) for (const variant of variants) families.set(`${name}/${variant}`, family);
    if (usesSubgroups(kernelSource(kernel).text)) subgroups.push(name);
  }
  const named = (rows: readonly RanRow[]): Ran['token'] => rows.map((row) => ({ ...row, family: families.get(`${row.kernel}/${row.variant}`) ?? 'none' }));
  return { subgroups: subgroupsText(subgroups), prompt: named(prompt), token: named(token) };
}

/** Whether WGSL asks for subgroups, of any kind: it must name the extension. */
export function usesSubgroups(wgsl: string): boolean {
  return /^\s*(?:enable|requires)\s[^;]*subgroup/m.test(wgsl);
}

/** Kernels that use subgroups, or `none`. */
export function subgroupsText(kernels: readonly string[]): string {
  return kernels.length === 0 ? 'none' : kernels.join(', ');
}

/** The variants of one token's kernels, where they have a choice: the only one is called default, or has a family of its own name. */
export function ranLine({ token, subgroups }: Ran): string {
  const counts = new Map<string, number>();
  for (const { kernel, variant, family, dispatches } of token) {
    if (variant === 'default' || family === variant) continue;
    const name = `${kernel}/${variant} (${family})`;
    counts.set(name, (counts.get(name) ?? 0) + dispatches);
  }
  const list = Array.from(counts, ([name, count]) => `${count} ${name}`);
  return `ran a token in ${list.join(', ')}; subgroups: ${subgroups}`;
}
