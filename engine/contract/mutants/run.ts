/** `contract --mutants`: edits every shader in many ways and counts the edits that the kernel's own gates catch. */
import { shaderFiles } from '../../../kernels/plant.ts';
import type { DeviceNeed } from '../../../kernels/contract.ts';
import { loadRegistry } from '../../../kernels/registry.ts';
import { EngineBroken } from '../../errors.ts';
import type { Gpu } from '../../gpu/device.ts';
import { shippedShader } from '../../gpu/kernel-source.ts';
import { RECORD_SCHEMA, type ContractMutantsRecord, type EngineRecord } from '../../protocol.ts';
import { openNeeding } from '../run.ts';
import { sideBySide } from '../side-by-side.ts';
import { select, type Contracted, type Selection } from '../select.ts';
import { chosenOrder } from './choose.ts';
import { editsOf } from './edits.ts';
import { JudgingProcess, type Reply } from './judging-process.ts';

/** Mutants of a kernel when the command line names no number. */
const EACH = 12;

/** The longest that one case of a mutant may take: ten times the longest of the shipped shader, and never less than this. */
const LEAST_STALL_MS = 5_000;

/** For the shipped shader itself, on a busy CPU driver. */
const SHIPPED_STALL_MS = 300_000;

export interface MutantsOptions extends Selection {
  /** Mutants of each kernel that are judged; 12 when absent. */
  readonly each?: number | undefined;
  /** Launches of each case; 2 when absent, and never fewer. */
  readonly repeat?: number | undefined;
  /** Seed of the choice of edits and of the fills; 1 when absent. */
  readonly seed?: number | undefined;
  readonly emit: (record: EngineRecord) => void;
  readonly print: (line: string) => void;
}

type Mutant = ContractMutantsRecord['mutants'][number];

/**
 * Judges the mutants of the selected kernels, two kernels at a time on a CPU driver, each in a process that can be ended, and prints `mutants caught N of M`.
 * Closes `gpu`: the judging processes open the adapter of its name for themselves.
 * @throws EngineUsage when nothing is selected; EngineBroken when the device does not open or breaks on a shipped shader.
 */
export async function runMutants(gpu: Gpu, options: MutantsOptions): Promise<void> {
  const { emit, print } = options;
  const each = options.each ?? EACH;
  const seed = options.seed ?? 1;
  const { name: adapter, evidence } = gpu.adapter;
  const { contracted } = select(await loadRegistry(), options);
  const lacks = await lacksOf(gpu, contracted);
  gpu.close();
  print(`mutants on ${adapter} (${evidence}), seed ${seed}, ${each} a kernel`);
  const device = { adapter, evidence, seed, repeat: Math.max(options.repeat ?? 2, 2) };
  // A hung mutant may take other work of a GPU with it; a CPU driver only takes a core.
  const processes = Array.from({ length: evidence === 'software' ? 2 : 1 }, () => new JudgingProcess(device));
  // A device of its own for what needs more, as the gates have it; nothing opens before it is asked.
  const needing = new JudgingProcess({ ...device, needs: [...lacks.keys()] });
  const records: ContractMutantsRecord[] = [];
  try {
    const mutate = async (entry: Contracted, judging: JudgingProcess): Promise<ContractMutantsRecord> => {
      const { needs } = entry.kernel;
      const lack = needs === undefined ? '' : lacks.get(needs)!;
      if (lack !== '') return unjudgedRecord(entry, seed, `feature absent: ${adapter} lacks ${lack}`);
      return mutateKernel(needs === undefined ? judging : needing, entry, each, seed);
    };
    await sideBySide(contracted, processes, mutate, (record) => {
      records.push(record);
      emit(record);
      for (const line of mutantLines(record)) print(line);
    });
  } finally {
    await Promise.all([...processes, needing].map((judging) => judging.close()));
  }
  const caught = records.reduce((sum, record) => sum + record.caught, 0);
  const mutants = records.reduce((sum, record) => sum + record.mutants.length, 0);
  const line = `mutants caught ${caught} of ${mutants}`;
  emit({ schema: RECORD_SCHEMA, kind: 'contract-mutants-summary', line, caught, mutants });
  print(line);
}

/** What the adapter lacks of each thing that a kernel needs. */
async function lacksOf(gpu: Gpu, entries: readonly Contracted[]): Promise<ReadonlyMap<DeviceNeed, string>> {
  const lacks = new Map<DeviceNeed, string>();
  for (const need of new Set(entries.flatMap(({ kernel: { needs } }) => (needs === undefined ? [] : [needs])))) {
    const opened = await openNeeding(gpu, need);
    lacks.set(need, opened.lack(need));
    opened.close();
  }
  return lacks;
}

function unjudgedRecord({ kernel: { name, group } }: Contracted, seed: number, unjudged: string): ContractMutantsRecord {
  return { schema: RECORD_SCHEMA, kind: 'contract-mutants', kernel: name, group, seed, edits: 0, uncompiled: 0, caught: 0, mutants: [], unjudged, wallMs: 0 };
}

async function mutateKernel(judging: JudgingProcess, entry: Contracted, each: number, seed: number): Promise<ContractMutantsRecord> {
  const started = performance.now();
  const { name: kernel, group } = entry.kernel;
  const edits = shaderFiles(entry.kernel).flatMap((file) => editsOf(shippedShader(file)).map((edit) => ({ ...edit, file })));
  const mutants: Mutant[] = [];
  let uncompiled = 0;
  const shipped = await judging.ask({ kernel, edits: null }, SHIPPED_STALL_MS);
  const unjudged = faultOfShipped(kernel, shipped.reply);
  const stallMs = Math.max(LEAST_STALL_MS, 10 * shipped.longestMs);
  for (const { rule, file, line, before, after, source } of unjudged === null ? chosenOrder(edits, kernel, seed) : []) {
    if (mutants.length === each) break;
    const { reply } = await judging.ask({ kernel, edits: { [file]: source } }, stallMs);
    if (reply.result === 'invalid') uncompiled++;
    else mutants.push({ rule, file, line, before, after, ...outcomeOf(reply) });
  }
  return {
    schema: RECORD_SCHEMA,
    kind: 'contract-mutants',
    kernel,
    group,
    seed,
    edits: edits.length,
    uncompiled,
    caught: mutants.filter(({ outcome }) => outcome !== 'survived').length,
    mutants,
    unjudged,
    wallMs: performance.now() - started,
  };
}

/** Why a kernel's mutants would show nothing: a gate that is red without an edit would be red with every one. */
function faultOfShipped(kernel: string, reply: Reply): string | null {
  if (reply.result === 'green') return null;
  if (reply.result === 'red') return `gate ${reply.gate} is red without any edit: ${reply.detail}`;
  throw new EngineBroken(`${kernel} as shipped: ${reply.result === 'invalid' ? 'does not compile' : reply.detail}`);
}

function outcomeOf(reply: Exclude<Reply, { result: 'invalid' }>): Pick<Mutant, 'outcome' | 'gate' | 'detail'> {
  if (reply.result === 'green') return { outcome: 'survived', gate: null, detail: '' };
  return { outcome: reply.result, gate: reply.result === 'red' ? reply.gate : null, detail: reply.detail };
}

/** The lines of one kernel: its count, then every survivor with its place, its edit and its line. */
export function mutantLines(record: ContractMutantsRecord): string[] {
  const { kernel, caught, mutants, uncompiled, unjudged, wallMs } = record;
  if (unjudged !== null) return [`${kernel}: no mutant judged: ${unjudged}`];
  const count = (outcome: Mutant['outcome']): number => mutants.filter((mutant) => mutant.outcome === outcome).length;
  const lines = [
    `${kernel}: ${caught} of ${mutants.length} caught (${count('red')} by a gate, ${count('hung')} hung, ${count('broke')} broke the device); ` +
      `${uncompiled} edits did not compile; ${Math.round(wallMs)} ms`,
  ];
  for (const { rule, file, line, before, after, outcome } of mutants) {
    if (outcome === 'survived')
      lines.push(`      survived kernels/${file ?? `${kernel}/${kernel}.wgsl`}:${line} (${rule}): ${before} → ${after === '' ? '(nothing)' : after}`);
  }
  return lines;
}
