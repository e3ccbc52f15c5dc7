/** The contract command: every kernel's gates and controls on one device, as records and as lines for people. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { KNOWN_FINDINGS } from '../../kernels/expectations.ts';
import { loadRegistry } from '../../kernels/registry.ts';
import type { Contract, Control, DeviceNeed } from '../../kernels/contract.ts';
import { ShaderInvalid } from '../errors.ts';
import { openGpu, type Gpu } from '../gpu/device.ts';
import { RECORD_SCHEMA, type ContractControlRecord, type ContractKernelRecord, type EngineRecord } from '../protocol.ts';
import { fillsOf, runCase, type CaseFigures } from './cases.ts';
import { runControl } from './controls.ts';
import { launchGate } from './launch-gate.ts';
import { limitsGate, type Limits } from './limits.ts';
import { remembering } from './remembering.ts';
import { sideBySide } from './side-by-side.ts';
import { select, type Contracted, type Selection } from './select.ts';
import type { Subject } from './subject.ts';
import { kernelLine, summarise } from './summary.ts';
import { harnessHash } from './harness.ts';
import { sumsGate } from './sums-gate.ts';
import { Tally } from './tally.ts';
import { verdictOf } from './verdict.ts';

export interface ContractOptions extends Selection {
  /** Launches of each case; 3 when absent, and never fewer than 2: one launch repeats nothing. */
  readonly repeat?: number | undefined;
  /** Base seed of the fills; 1 when absent. */
  readonly seed?: number | undefined;
  readonly emit: (record: EngineRecord) => void;
  readonly print: (line: string) => void;
}

/**
 * Judges the kernels that have a contract and prints the SUMMARY line.
 * @throws EngineUsage when nothing is selected; Error when a kernel's folder is incomplete;
 *   EngineBroken and EngineTimeout from the device. A shader that does not compile fails its kernel only.
 */
export async function runContract(gpu: Gpu, options: ContractOptions): Promise<void> {
  const { emit, print } = options;
  const repeat = Math.max(options.repeat ?? 3, 2);
  const seed = options.seed ?? 1;
  const { contracted, without } = select(await loadRegistry(), options);
  print(`contract on ${gpu.adapter.name} (${gpu.adapter.evidence}), seed ${seed}, ${repeat} launches a case`);
  const kernels: ContractKernelRecord[] = [];
  const controls: ContractControlRecord[] = [];
  const unexpected: string[] = [];
  const second = gpu.adapter.evidence === 'software' ? await openGpu({ adapter: gpu.adapter.name, allowSoftware: true }) : undefined;
  const needing = new Map<DeviceNeed, Promise<Gpu>>();
  const deviceFor = async (need: DeviceNeed): Promise<Gpu> => {
    const opened = needing.get(need) ?? openNeeding(gpu, need);
    needing.set(need, opened);
    return opened;
  };
  const work = async (task: Task, device: Gpu): Promise<TaskResult> => {
    const { kernel, control } = task;
    const { entry } = kernel;
    try {
      const { needs } = entry.kernel;
      const own = needs === undefined ? device : await deviceFor(needs);
      const lack = needs === undefined ? '' : own.lack(needs);
      if (lack !== '') return { task, ...(!control && { judged: skipped(entry, `feature absent: ${own.adapter.name} lacks ${lack}`) }) };
      const subject: Subject = { gpu: own, contract: kernel.contract!, seed, repeat };
      return { task, ...(control ? { outcome: await plantControl(subject, control) } : { judged: await judgeKernel(subject, entry) }) };
    } finally {
      // Not when its results are handed over: another kernel's gates may take long, and fills of all that ended meanwhile would be kept.
      if (--kernel.pending === 0) kernel.contract = undefined;
    }
  };
  // A CPU driver compiles the shaders of one device one after the other: with a second device, a second core does so too.
  await sideBySide(contracted.flatMap(tasksOf), second ? [gpu, second] : [gpu], work, ({ task: { kernel, control }, judged, outcome }) => {
    if (judged) kernel.judged = judged;
    if (outcome) kernel.outcomes.push(outcome);
    if (control !== kernel.entry.controls.at(-1)) return;
    const { record, unexpectedPasses } = kernel.judged!;
    unexpected.push(...unexpectedPasses);
    kernels.push(record);
    emit(record);
    controls.push(...kernel.outcomes);
    for (const planted of kernel.outcomes) emit(planted);
    for (const line of kernelLine(record, kernel.outcomes)) print(line);
  });
  // Not after a failure: the session closes what is open then, and nothing where a device hangs.
  second?.close();
  for (const opened of needing.values()) (await opened).close();
  if (without.length > 0) print(`no contract: ${without.join(', ')}`);
  for (const pass of unexpected) print(`unexpected pass: ${pass}`);
  const summary = summarise(gpu.adapter.name, kernels, controls, unexpected);
  emit(summary);
  print(summary.line);
}

interface Judged {
  readonly record: ContractKernelRecord;
  readonly unexpectedPasses: readonly string[];
}

/** One kernel's tasks have its contract in common: what one has filled and computed, the others need again. */
interface KernelTasks {
  readonly entry: Contracted;
  /** Undefined once none is pending. */
  contract: Contract | undefined;
  pending: number;
  judged?: Judged;
  readonly outcomes: ContractControlRecord[];
}

/** A kernel's gates, or one of its controls: tasks of their own, so that two devices can share a kernel. */
interface Task {
  readonly kernel: KernelTasks;
  readonly control?: Control;
}

interface TaskResult {
  readonly task: Task;
  readonly judged?: Judged;
  readonly outcome?: ContractControlRecord;
}

/** The gates, then the controls. */
function tasksOf(entry: Contracted): Task[] {
  const kernel: KernelTasks = { entry, contract: remembering(entry.contract), pending: 1 + entry.controls.length, outcomes: [] };
  return [{ kernel }, ...entry.controls.map((control) => ({ kernel, control }))];
}

async function judgeKernel(subject: Subject, entry: Contracted): Promise<Judged> {
  const { gpu, contract } = subject;
  const { kernel } = contract;
  const started = performance.now();
  const limits = gpu.adapter.limits;
  const geometry = limitsGate(subject, limits);
  const { results, figures } = await runGates(subject, limits);
  const findings = KNOWN_FINDINGS.filter((finding) => finding.kernel === kernel.name && finding.device.test(gpu.adapter.name));
  const { status, known, unexpectedPasses } = verdictOf(kernel.name, geometry.tally.result(), results, findings);
  const record: ContractKernelRecord = {
    schema: RECORD_SCHEMA,
    kind: 'contract-kernel',
    kernel: kernel.name,
    group: kernel.group,
    status,
    hashes: hashesOf(entry),
    variants: [...kernel.variants],
    limits: geometry.tally.result(),
    gates: results,
    limitFailures: geometry.tally.faults,
    refusedEdges: geometry.refusedEdges,
    worst: worstOf(figures),
    alarms: figures.filter(({ alarm }) => alarm !== '').map(({ name, alarm }) => `${name}: ${alarm}`),
    cases: figures.map(({ name, outputDigest, worstFraction, nmse }) => ({ name, outputDigest, worstFraction, nmse })),
    known,
    gateMs: performance.now() - started,
  };
  return { record, unexpectedPasses };
}

/** The same adapter, opened with what a kernel needs. A device of its own, so that the other kernels' stays as it is without. */
export function openNeeding({ adapter: { name } }: Gpu, need: DeviceNeed): Promise<Gpu> {
  // The command that opened the first device asked for leave to run on software already.
  return openGpu({ adapter: name, allowSoftware: true, needs: [need] });
}

function hashesOf({ files }: Contracted): ContractKernelRecord['hashes'] {
  return {
    wgsl: sha256(files.wgsl),
    wrapper: sha256(files.wrapper),
    reference: sha256(files.reference),
    contract: sha256(files.contract),
    control: sha256(files.control),
    harness: harnessHash(files),
  };
}

/** A kernel that this device cannot run: neither passed nor failed. */
function skipped(entry: Contracted, reason: string): Judged {
  const { name, group, variants } = entry.kernel;
  const untried = { status: 'not-applicable', checks: 0, detail: reason } as const;
  const record: ContractKernelRecord = {
    schema: RECORD_SCHEMA,
    kind: 'contract-kernel',
    kernel: name,
    group,
    status: 'skipped',
    hashes: hashesOf(entry),
    variants: [...variants],
    limits: untried,
    gates: { 1: untried, 2: untried, 3: untried, 4: untried },
    limitFailures: 0,
    refusedEdges: 0,
    worst: null,
    alarms: [],
    cases: [],
    known: null,
    skipped: reason,
    gateMs: 0,
  };
  return { record, unexpectedPasses: [] };
}

/** Gates 1 to 4. A shader that does not compile fails the first and leaves the others with nothing to compare. */
export async function runGates(subject: Subject, limits: Limits): Promise<{ results: ContractKernelRecord['gates']; figures: readonly CaseFigures[] }> {
  const { contract } = subject;
  const gates = { integrity: new Tally(), shapes: new Tally() };
  let [launch, sums] = [new Tally(), new Tally()];
  const figures: CaseFigures[] = [];
  try {
    launch = await launchGate(subject);
    for (const shape of contract.shapes) {
      for (const fill of fillsOf(subject, shape)) figures.push(...(await runCase(subject, limits, shape, fill, gates)));
    }
    sums = await sumsGate(subject);
  } catch (error) {
    if (!(error instanceof ShaderInvalid)) throw error;
    launch.add(1, contract.kernel.name, error.message);
  }
  return { results: { 1: launch.result(), 2: gates.integrity.result(), 3: gates.shapes.result(), 4: sums.result() }, figures };
}

async function plantControl(subject: Subject, control: Control): Promise<ContractControlRecord> {
  const { caught, planted, detail } = await runControl(subject, subject.gpu.adapter.limits, control);
  const kernel = subject.contract.kernel.name;
  return { schema: RECORD_SCHEMA, kind: 'contract-control', kernel, control: control.name, gate: control.gate, caught, planted, detail };
}

function worstOf(figures: readonly CaseFigures[]): { fraction: number; case: string } | null {
  let worst: { fraction: number; case: string } | null = null;
  for (const { name, worstFraction } of figures) {
    if (worstFraction !== null && (worst === null || worstFraction > worst.fraction)) worst = { fraction: worstFraction, case: name };
  }
  return worst;
}

function sha256(file: URL): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
