/**
 * Engine records as a real engine writes them, for tests of what reads them. Digests are hashes of the stated content, so
 * two builders that state the same content agree, and nothing else does.
 */
import {
  RECORD_SCHEMA,
  type AdapterRecord,
  type ContractControlRecord,
  type ContractKernelRecord,
  type ContractSummaryRecord,
  type DecodeRecord,
  type EngineRecord,
  type Evidence,
} from '../../../engine/protocol.ts';
import { sha256Hex } from '../canonical.ts';

const schema = RECORD_SCHEMA;

export const ADAPTER_DRIVER = 'test driver 1.0';

export function adapter(name: string, evidence: Evidence, driver = ADAPTER_DRIVER): AdapterRecord {
  return {
    schema,
    kind: 'adapter',
    name,
    vendor: 'vendor',
    architecture: '',
    device: '0x0000',
    description: driver,
    backend: 'vulkan',
    evidence,
    driver,
    driverFiles: null,
    features: [],
    limits: {},
    subgroupMinSize: null,
    subgroupMaxSize: null,
  };
}

/** A whole records file: engine and adapter lines, the given ones, and the end line that counts them. */
export function recordsFile(adapterRecord: AdapterRecord, body: readonly EngineRecord[], command = 'decode'): string {
  const lines: EngineRecord[] = [
    {
      schema,
      kind: 'engine',
      command,
      version: '0.1.0',
      node: 'v20.20.2',
      webgpu: '0.6.2',
      platform: 'linux x64',
      pid: 4121,
      startedAt: '2026-11-29T12:00:00Z',
      settings: {},
    },
    adapterRecord,
    ...body,
  ];
  const end: EngineRecord = { schema, kind: 'end', records: lines.length, wallMs: 1234, vmHwmKiB: 300_000, majorFaults: 0 };
  return [...lines, end].map((line) => `${JSON.stringify(line)}\n`).join('');
}

export interface DecodeShape {
  readonly prompt?: string;
  readonly ids?: readonly number[];
  /** Content of each step's logits; a step's digest is its hash. */
  readonly steps?: readonly string[];
  readonly totalMs?: number;
  readonly definition?: string;
  readonly pinnedIdsMatch?: boolean | null;
  readonly checksumsMatch?: boolean;
  readonly model?: string;
  readonly adapter?: string;
}

const TINY = 'qwen3.5-tiny-books';
/** The model of a decode that names none, as calibrations name it. */
export const MODEL = `${TINY} ${sha256Hex(TINY)}`;

/** A decode of `steps.length` steps. */
export function decode(shape: DecodeShape = {}): DecodeRecord {
  const steps = shape.steps ?? ['a', 'b', 'c', 'd'];
  const ids = shape.ids ?? steps.map((_, i) => 100 + i);
  const totalMs = shape.totalMs ?? 1000;
  const prompt = shape.prompt ?? 'story';
  const model = shape.model ?? TINY;
  return {
    schema,
    kind: 'decode',
    model: { id: model, sha256: sha256Hex(model) },
    prompt: { name: prompt, tokens: 24, sha256: sha256Hex(prompt) },
    steps: steps.length,
    context: 24 + steps.length,
    ids: [...ids],
    text: ' once upon a time',
    digest: sha256Hex(steps.join('\n')),
    stepDigests: steps.map(sha256Hex),
    checksumsMatch: shape.checksumsMatch ?? true,
    pinnedIdsMatch: shape.pinnedIdsMatch === undefined ? true : shape.pinnedIdsMatch,
    timing: {
      definition: shape.definition ?? 'total = prefill + decode of the second pass, per-step readback of 4 bytes',
      logitsReadBack: false,
      loadMs: 210,
      prefillMs: totalMs * 0.2,
      decodeMs: { steps: steps.length - 1, total: totalMs * 0.8, p50: 12, p90: 14 },
      totalMs,
    },
    counters: { submits: { token: steps.length, readback: steps.length }, dispatches: { 'qmm-q4': 120 }, bytesReadBack: 4 * steps.length },
    settings: {},
    adapter: shape.adapter ?? 'SwiftShader Device (LLVM 16.0.0)',
    logitsFile: null,
  };
}

export interface KernelShape {
  readonly status?: ContractKernelRecord['status'];
  /** Detail of the gate-3 failure. */
  readonly failure?: string;
  /** Content of files by name; their hashes follow. */
  readonly files?: Partial<Record<'wgsl' | 'wrapper' | 'reference' | 'contract' | 'control' | 'harness', string>>;
  readonly case?: string;
  /** Gates that do not follow from the status. */
  readonly doctored?: Partial<ContractKernelRecord['gates']>;
  readonly limitFailures?: number;
  readonly known?: string;
  /** Content of the outputs. */
  readonly output?: string;
  readonly worst?: number;
  readonly group?: string;
}

export function kernel(name: string, shape: KernelShape = {}): ContractKernelRecord {
  const status = shape.status ?? 'pass';
  const pass =
    status === 'skipped' ? ({ status: 'not-applicable', checks: 0, detail: 'feature absent' } as const) : ({ status: 'pass', checks: 12, detail: '' } as const);
  const file = (part: keyof Required<ContractKernelRecord>['hashes']): string => sha256Hex(shape.files?.[part] ?? `${name}.${part}`);
  const limitFailures = shape.limitFailures ?? 0;
  return {
    schema,
    kind: 'contract-kernel',
    kernel: name,
    group: shape.group ?? 'projection',
    status,
    hashes: {
      wgsl: file('wgsl'),
      wrapper: file('wrapper'),
      reference: file('reference'),
      contract: file('contract'),
      control: file('control'),
      harness: file('harness'),
    },
    variants: ['scalar', 'vec4'],
    limits: limitFailures > 0 ? { status: 'fail', checks: 3, detail: 'workgroup memory 40960 bytes, device 32768' } : { status: 'pass', checks: 3, detail: '' },
    gates: {
      1: pass,
      2: pass,
      3:
        status === 'pass' || status === 'skipped'
          ? pass
          : { status: 'fail', checks: 12, detail: shape.failure ?? '1x64x64/normal/scalar is 3.1 times its bound' },
      4: pass,
      ...shape.doctored,
    },
    limitFailures,
    refusedEdges: 2,
    worst: { fraction: shape.worst ?? 0.61, case: '1x64x64/normal/scalar' },
    alarms: [],
    cases:
      status === 'skipped'
        ? []
        : [
            {
              name: shape.case ?? '1x64x64/normal/scalar',
              outputDigest: sha256Hex(shape.output ?? `${name} output`),
              worstFraction: shape.worst ?? 0.61,
              nmse: 1.2e-14,
            },
          ],
    known: status === 'known' ? (shape.known ?? 'subnormals are flushed by this driver') : null,
    ...(status === 'skipped' && { skipped: 'feature absent: the device lacks matrices' }),
    gateMs: 812.5,
  };
}

export function control(kernelName: string, name: string, caught = true): ContractControlRecord {
  return {
    schema,
    kind: 'contract-control',
    kernel: kernelName,
    control: name,
    gate: 3,
    caught,
    detail: caught ? 'red as planted' : 'every gate stayed green',
  };
}

/** The totals of the given kernels and controls, and the line that an engine prints for them. */
export function summary(adapterName: string, body: readonly EngineRecord[], gatesMs: number): ContractSummaryRecord {
  const kernels = body.filter((record) => record.kind === 'contract-kernel');
  const controls = body.filter((record) => record.kind === 'contract-control');
  const count = (status: string): number => kernels.filter((record) => record.status === status).length;
  const caught = controls.filter((record) => record.caught).length;
  const limitFailures = kernels.reduce((sum, record) => sum + record.limitFailures, 0);
  const totals = {
    kernels: kernels.length,
    pass: count('pass'),
    fail: count('fail'),
    known: count('known'),
    controls: controls.length,
    caught,
    missed: controls.length - caught,
    limitFailures,
  };
  const line =
    `SUMMARY ${adapterName} ${totals.kernels} kernels: ${totals.pass} pass gates 1-4, ${totals.fail} fail, ${totals.known} known findings; ` +
    `${totals.controls} controls: ${caught} caught, ${totals.missed} missed; ${limitFailures} limit failures; gates ${gatesMs} ms`;
  return { schema, kind: 'contract-summary', line, ...totals, unexpectedPasses: [], gatesMs };
}
