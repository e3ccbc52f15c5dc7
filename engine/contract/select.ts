import type { Contract } from '../../kernels/contract.ts';
import type { RegistryEntry } from '../../kernels/registry.ts';
import { EngineUsage } from '../errors.ts';

export type Contracted = RegistryEntry & { readonly contract: Contract };

export interface Selection {
  /** Only kernels of this group. */
  readonly group?: string | undefined;
  /** Only this kernel. */
  readonly kernel?: string | undefined;
}

/** The selected kernels that have a contract, and the names of those without. @throws EngineUsage when nothing is selected. */
export function select(entries: readonly RegistryEntry[], { group, kernel }: Selection): { contracted: readonly Contracted[]; without: readonly string[] } {
  const selected = entries.filter((entry) => (group === undefined || entry.kernel.group === group) && (kernel === undefined || entry.kernel.name === kernel));
  if (selected.length === 0) {
    const groups: readonly string[] = [...new Set(entries.map((entry) => entry.kernel.group))].toSorted();
    if (group !== undefined && !groups.includes(group)) throw new EngineUsage(`--group ${group}: there is no such group; there is ${groups.join(', ')}`);
    const names = entries.filter((entry) => group === undefined || entry.kernel.group === group).map((entry) => entry.kernel.name);
    throw new EngineUsage(`--kernel ${kernel}: there is no such kernel${group === undefined ? '' : ` in group ${group}`}; there is ${names.join(', ')}`);
  }
  return {
    contracted: selected.filter((entry): entry is Contracted => entry.contract !== undefined),
    without: selected.filter(({ contract }) => !contract).map(({ kernel: { name } }) => name),
  };
}
