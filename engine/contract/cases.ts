/** Gates 2 (integrity) and 3 (shapes): both judge the same launches, so each case is run once for the two. */
import { createHash } from 'node:crypto';
import type { Contents, ContractShape, Expected, Fill } from '../../kernels/contract.ts';
import { CaseRun } from './case-run.ts';
import { compareOutput, exactBits, type Comparison } from './compare.ts';
import { guardFault, withoutGuards } from './guards.ts';
import { limitFault, type Limits } from './limits.ts';
import { fillCase, launchOf, type Subject } from './subject.ts';
import type { Tally } from './tally.ts';
import { differenceFault, unwrittenFault } from './written.ts';

/** What one case computed, in figures that can be compared across devices. */
export interface CaseFigures {
  readonly name: string;
  readonly outputDigest: string;
  readonly worstFraction: number | null;
  readonly nmse: number | null;
  readonly alarm: string;
}

export interface CaseGates {
  readonly integrity: Tally;
  readonly shapes: Tally;
}

type Words = Readonly<Record<string, Uint32Array>>;

/** What a family's first variant wrote, by shape, fill and family: the others must write the same. */
export type FirstOfFamily = Map<string, { readonly variant: string; readonly words: Words }>;

export interface CaseOptions {
  /**
   * Asked after each variant: true leaves the others out. For planted faults, where one red variant is the answer and compiling the others is
   * most of the time on a CPU driver.
   */
  readonly enough?: () => boolean;
  /** Kept by who runs the variants of a case in calls of their own. */
  readonly first?: FirstOfFamily;
}

/** The fills that a shape is run with. @throws Error when it names one that the contract does not have. */
export function fillsOf(subject: Subject, shape: ContractShape): readonly Fill[] {
  const { contract } = subject;
  if (!shape.fills) return contract.fills;
  return shape.fills.map((name) => {
    const fill = contract.fills.find((each) => each.name === name);
    if (!fill) throw new Error(`${contract.kernel.name}: shape ${shape.name} asks for the fill ${name}, which the contract does not have`);
    return fill;
  });
}

/**
 * Runs one shape and fill with every variant that serves it.
 * @returns figures by variant; an edge that a variant declines, or that does not fit the device, has none.
 */
export async function runCase(
  subject: Subject,
  limits: Limits,
  shape: ContractShape,
  fill: Fill,
  gates: CaseGates,
  { enough = () => false, first: firstOfFamily = new Map() }: CaseOptions = {},
): Promise<CaseFigures[]> {
  const { gpu, contract, edits } = subject;
  const { kernel } = contract;
  const figures: CaseFigures[] = [];
  const launches = (shape.variants ?? kernel.variants).flatMap((variant) => {
    const launch = launchOf(contract, shape.shape, variant);
    if (launch instanceof Error || limitFault(limits, contract, shape.shape, launch) !== '') return [];
    return [{ variant, launch }];
  });
  if (launches.length === 0) return [];
  const contents = fillCase(subject, shape, fill);
  const run = new CaseRun(gpu, kernel, shape.shape, contents);
  const expectations = new Map<string, Readonly<Record<string, Expected>>>();
  try {
    for (const { variant, launch } of launches) {
      const name = `${shape.name}/${fill.name}/${variant}`;
      const family = familyOf(subject, variant);
      const expected = expectations.get(family) ?? expectationsOf(subject, shape, fill, contents, family);
      expectations.set(family, expected);
      const words = await run.launch(launch, edits);
      holdIntegrity(gates.integrity, name, words, expected);
      for (let i = 1; i < subject.repeat; i++) holdSame(gates.integrity, `${name} repeat ${i + 1}`, words, await run.launch(launch, edits));
      for (const [input, after] of Object.entries(await run.inputs())) {
        gates.integrity.add(after.length, name, guardFault(input, after) || differenceFault(`input "${input}"`, run.initial(input), after));
      }
      const caseOfFamily = `${shape.name}/${fill.name}/${family}`;
      const first = firstOfFamily.get(caseOfFamily);
      if (first) holdSame(gates.integrity, `${name} against ${first.variant} of family ${family}`, first.words, words);
      else firstOfFamily.set(caseOfFamily, { variant, words });
      figures.push(holdShapes(gates.shapes, name, run, words, expected));
      if (enough()) break;
    }
  } finally {
    run.close();
  }
  return figures;
}

function familyOf(subject: Subject, variant: string): string {
  const found = Object.entries(subject.contract.families).find(([, variants]) => variants.includes(variant));
  if (!found) throw new Error(`${subject.contract.kernel.name}: variant ${variant} is in no family`);
  return found[0];
}

function expectationsOf(subject: Subject, shape: ContractShape, fill: Fill, contents: Contents, family: string): Readonly<Record<string, Expected>> {
  const { contract } = subject;
  const expected = contract.expect(shape.shape, contents, family);
  for (const { name, access } of contract.kernel.bindings) {
    if (access === 'read_write' && !expected[name]) throw new Error(`${contract.kernel.name}: the contract expects nothing of the output "${name}"`);
  }
  if (fill.kind !== 'exact') return expected;
  return Object.fromEntries(Object.entries(expected).map(([name, output]) => [name, exactBits(output)]));
}

function holdIntegrity(tally: Tally, name: string, words: Words, expected: Readonly<Record<string, Expected>>): void {
  for (const [output, after] of Object.entries(words)) {
    tally.add(1, name, guardFault(output, after));
    tally.add(after.length, name, unwrittenFault(output, withoutGuards(after), expected[output]?.kept));
  }
}

function holdSame(tally: Tally, name: string, first: Words, second: Words): void {
  for (const [output, words] of Object.entries(second)) {
    tally.add(words.length, name, guardFault(output, words) || differenceFault(`output "${output}"`, withoutGuards(first[output]!), withoutGuards(words)));
  }
}

function holdShapes(tally: Tally, name: string, run: CaseRun, words: Words, expected: Readonly<Record<string, Expected>>): CaseFigures {
  const hash = createHash('sha256');
  const comparisons: Comparison[] = [];
  for (const [output, after] of Object.entries(words)) {
    const contents = withoutGuards(after);
    hash.update(new Uint8Array(contents.buffer, contents.byteOffset, contents.byteLength));
    const comparison = compareOutput(expected[output]!, contents, withoutGuards(run.initial(output)));
    tally.add(comparison.checks, name, comparison.fault === '' ? '' : `"${output}" ${comparison.fault}`);
    comparisons.push(comparison);
  }
  return {
    name,
    outputDigest: hash.digest('hex'),
    worstFraction: largest(comparisons.map(({ worst }) => worst)),
    nmse: largest(comparisons.map(({ nmse }) => nmse)),
    alarm: comparisons.find(({ alarm }) => alarm !== '')?.alarm ?? '',
  };
}

/** The largest finite figure; a fraction of a zero bound is infinite and its element has failed the gate already. */
function largest(values: readonly (number | null)[]): number | null {
  const found = values.filter((value): value is number => value !== null && Number.isFinite(value));
  return found.length > 0 ? Math.max(...found) : null;
}
