/**
 * The kernels that exist: one folder each, found by reading the directory, so that adding a kernel adds a folder and
 * nothing else. An incomplete folder is refused by name.
 */
import { existsSync, readdirSync } from 'node:fs';
import { contractFault } from './completeness.ts';
import type { Contract, Control, Kernel } from './contract.ts';

export interface RegistryEntry {
  readonly kernel: Kernel;
  /** Absent: the folder has no contract, and `controls` is empty. */
  readonly contract?: Contract;
  readonly controls: readonly Control[];
  /** The folder's files; `contract` and `control` exist where there is a contract. */
  readonly files: Readonly<Record<'wgsl' | 'wrapper' | 'reference' | 'contract' | 'control', URL>>;
}

const HERE = new URL('./', import.meta.url);

/** Names of the kernel folders, sorted. `shared` holds snippets and is none. */
export function kernelNames(root: URL = HERE): readonly string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
    .map(({ name }) => name)
    .toSorted();
}

/**
 * Loads every kernel, in the order of names.
 * @throws Error naming the folder and what it lacks: a file, a Kernel of the folder's name, a whole contract, a control.
 */
export async function loadRegistry(root: URL = HERE): Promise<readonly RegistryEntry[]> {
  const entries: RegistryEntry[] = [];
  for (const name of kernelNames(root)) entries.push(await loadKernel(name, root));
  return entries;
}

/** Loads one kernel's folder. @throws as `loadRegistry`. */
export async function loadKernel(name: string, root: URL = HERE): Promise<RegistryEntry> {
  const file = (ending: string): URL => new URL(`${name}/${name}${ending}`, root);
  const files = {
    wgsl: file('.wgsl'),
    wrapper: file('.ts'),
    reference: file('.reference.ts'),
    contract: file('.contract.ts'),
    control: file('.control.ts'),
  };
  const refuse = (what: string): never => {
    throw new Error(`kernels/${name}: ${what}; kernels/README.md says what a folder holds`);
  };
  for (const url of [files.wgsl, files.wrapper, files.reference]) {
    if (!existsSync(url)) refuse(`${url.pathname.split('/').at(-1)} is missing`);
  }
  if (existsSync(files.contract) && !existsSync(files.control))
    refuse(`it has a contract but no ${name}.control.ts: a contract nothing is shown to fail proves nothing`);
  if (existsSync(files.control) && !existsSync(files.contract)) refuse(`it has controls but no ${name}.contract.ts`);
  const exported: unknown[] = Object.values((await import(files.wrapper.href)) as Record<string, unknown>);
  const kernel = exported.find((value): value is Kernel => isKernel(value) && value.name === name) ?? refuse(`${name}.ts exports no Kernel named ${name}`);
  if (!existsSync(files.contract)) return { kernel, controls: [], files };
  const { contract } = (await import(files.contract.href)) as { contract?: Contract };
  const { controls } = (await import(files.control.href)) as { controls?: readonly Control[] };
  if (contract?.kernel !== kernel) refuse(`${name}.contract.ts must export \`contract\` of this kernel`);
  if (!controls || controls.length === 0) refuse(`${name}.control.ts must export \`controls\` with at least one planted fault`);
  const fault = contractFault(contract!);
  if (fault !== '') refuse(fault);
  return { kernel, contract: contract!, controls: controls!, files };
}

function isKernel(value: unknown): value is Kernel {
  return typeof value === 'object' && value !== null && 'name' in value && 'bindings' in value && 'launch' in value;
}
