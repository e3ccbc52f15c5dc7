/** What `bench` measures: one shape of one kernel's contract, filled as the contract fills it. */
import type { Contents, Contract, Fill, Launch, Shape } from '../../kernels/contract.ts';
import { caseSeed, Random } from '../../kernels/random.ts';
import { limitFault, type Limits } from '../contract/limits.ts';
import { launchOf } from '../contract/subject.ts';
import { EngineUsage } from '../errors.ts';

export interface BenchSubject {
  readonly contract: Contract;
  /** The contract's name of the shape, or `k=v,…` as given. */
  readonly name: string;
  readonly shape: Shape;
  readonly fill: Fill;
}

/**
 * Finds the shape: a part of the name of exactly one of the contract's, or every field as `k=v,…`.
 * @throws EngineUsage naming what there is.
 */
export function benchSubject(contract: Contract, wanted: string | undefined): BenchSubject {
  const names = contract.shapes.map(({ name }) => name);
  const refuse = (why: string): never => {
    throw new EngineUsage(`--shape ${why}; ${contract.kernel.name} has ${names.map((name) => `"${name}"`).join(', ')}`);
  };
  if (wanted === undefined) return refuse('is missing');
  if (wanted.includes('=')) {
    const shape = fieldsOf(wanted);
    const fields = Object.keys(contract.shapes[0]?.shape ?? {}).toSorted();
    if (!shape || Object.keys(shape).toSorted().join() !== fields.join()) return refuse(`${wanted} must give ${fields.map((field) => `${field}=…`).join(',')}`);
    return { contract, name: wanted, shape, fill: fillOf(contract, undefined) };
  }
  const exact = contract.shapes.find(({ name }) => name === wanted);
  const matching = exact ? [exact] : contract.shapes.filter(({ name }) => name.includes(wanted));
  const [found] = matching;
  if (!found || matching.length > 1) return refuse(`${wanted} is in ${matching.length} names`);
  return { contract, name: found.name, shape: found.shape, fill: fillOf(contract, found.fills) };
}

function fieldsOf(text: string): Record<string, number> | undefined {
  const fields = text.split(',').map((word) => word.split('='));
  if (fields.some(([key, value, ...rest]) => !key || !value || rest.length > 0 || !Number.isFinite(Number(value)))) return undefined;
  return Object.fromEntries(fields.map(([key, value]) => [key, Number(value)]));
}

/** A fill of ordinary numbers, where the shape has one: NaN and subnormals may take other paths through a device. */
function fillOf(contract: Contract, names: readonly string[] | undefined): Fill {
  const fills = contract.fills.filter(({ name }) => names?.includes(name) ?? true);
  const found = fills.find(({ kind }) => kind === 'spread') ?? fills[0];
  if (!found) throw new EngineUsage(`the contract of ${contract.kernel.name} has no fill for this shape; name another`);
  return found;
}

/** The same contents on every machine. */
export function contentsOf({ contract, name, shape, fill }: BenchSubject): Contents {
  return fill.make(shape, new Random(caseSeed(1, `${contract.kernel.name}/${name}/${fill.name}`)));
}

/** The variants that serve the shape on this device, and why the others do not. */
export function launchesOf({ contract, shape }: BenchSubject, limits: Limits): { launches: Launch[]; refused: { variant: string; why: string }[] } {
  const launches: Launch[] = [];
  const refused: { variant: string; why: string }[] = [];
  for (const variant of contract.kernel.variants) {
    const launch = launchOf(contract, shape, variant);
    const why = launch instanceof Error ? launch.message : limitFault(limits, contract, shape, launch);
    if (launch instanceof Error || why !== '') refused.push({ variant, why });
    else launches.push(launch);
  }
  return { launches, refused };
}

export function familyOf({ contract }: BenchSubject, variant: string): string {
  return Object.entries(contract.families).find(([, variants]) => variants.includes(variant))?.[0] ?? 'none';
}
