/**
 * The engine's records: what one engine process writes about what it did, one JSON object a line (`--records FILE`).
 *
 * This file, with its parts in protocol/, is the whole wire between an engine process and everything that starts it or reads it. It imports zod
 * and those parts only, so that the agent and the coordinator can read records without loading the engine. Every record carries
 * `schema`; the coordinator reads every schema that was ever written, since heads can be old. Add fields; never change the meaning of one.
 *
 * A process that executed ends its file with one `end` record. A file without it is not whole, and its leg is void.
 */
import { z } from 'zod';
import { driverVariables } from './protocol/driver-variables.ts';
import { base, milliseconds, RECORD_SCHEMA as SCHEMA, sha256 } from './protocol/frame.ts';
import {
  benchRecord,
  counters,
  inventoryRecord,
  memory,
  probeRecord,
  profileRow,
  ran,
  timestampTrust,
  tuneRecord,
  twoLengthRecord,
} from './protocol/measurements.ts';

export { driverVariables, tuneRecord };

/** The version that this engine writes. */
export const RECORD_SCHEMA = SCHEMA;

/** Exit statuses of every engine command. Findings are in records, never in the status. */
export const EXIT = { executed: 0, refused: 1, usage: 2, timeout: 124, broken: 70 } as const;

/** First line: what process this is. `settings` are the effective `--set` values, defaults included. */
export const engineRecord = z.object({
  ...base,
  kind: z.literal('engine'),
  command: z.string(),
  version: z.string(),
  node: z.string(),
  webgpu: z.string(),
  platform: z.string(),
  pid: z.int(),
  startedAt: z.iso.datetime(),
  settings: z.record(z.string(), z.string()),
});

/** `software`: a CPU Vulkan driver; it is never GPU evidence. */
export const evidence = z.enum(['gpu', 'software']);
export type Evidence = z.infer<typeof evidence>;

/** The adapter that the process opened (or, for `devices`, one it could open). Strings are Dawn's, unedited. */
export const adapterRecord = z.object({
  ...base,
  kind: z.literal('adapter'),
  name: z.string().describe('what SUMMARY lines print and --adapter matches, case-insensitively, by substring'),
  vendor: z.string(),
  architecture: z.string(),
  device: z.string(),
  description: z.string(),
  backend: z.string(),
  evidence,
  driver: z.string().describe('driver name and version as far as the platform tells, else "unknown"'),
  driverFiles: z.string().nullable().describe('VK_DRIVER_FILES value under which this adapter opens; null: the loader’s default'),
  libraryPath: z.string().optional().describe('LD_LIBRARY_PATH value under which it opens, where the host has no Vulkan loader of its own'),
  features: z.array(z.string()),
  limits: z.record(z.string(), z.number()),
  subgroupMinSize: z.int().nullable(),
  subgroupMaxSize: z.int().nullable(),
});

/** The engine declined to run: no adapter, software without --allow-software, a broken checkpoint. Exit status 1. */
export const refusedRecord = z.object({
  ...base,
  kind: z.literal('refused'),
  reason: z.string().describe('what and why, one line'),
  next: z.string().describe('the command or change that helps'),
});

const gateResult = z.object({
  status: z.enum(['pass', 'fail', 'not-applicable']),
  checks: z.int().describe('how many comparisons were made; a pass with 0 checks is a defect'),
  detail: z.string().describe('first failure, or why not applicable; empty on a plain pass'),
});
export type GateResult = z.infer<typeof gateResult>;

/** One case of one kernel: what it computed, in figures that can be compared across devices. */
const contractCase = z.object({
  name: z.string().describe('shape/fill/variant'),
  outputDigest: sha256,
  worstFraction: z.number().nullable().describe('largest |error| / spec bound; null where the case is exact'),
  nmse: z.number().nullable().describe('Σ(out−ref)²/Σref²; null where undefined'),
});

/** One kernel under contract on one adapter. */
export const contractKernelRecord = z.object({
  ...base,
  kind: z.literal('contract-kernel'),
  kernel: z.string(),
  group: z.string(),
  status: z.enum(['pass', 'fail', 'known', 'skipped']).describe('skipped: the device lacks what the kernel needs; no gate was tried'),
  hashes: z
    .object({
      wgsl: sha256,
      wrapper: sha256,
      reference: sha256,
      contract: sha256,
      control: sha256,
      harness: sha256.optional().describe('gates, shared bounds and fills that the contract stands on; absent: an engine before it hashed them'),
    })
    .describe('SHA-256 of the five files and of what judges them; a head that changed its own contract shows "contract changed"'),
  variants: z.array(z.string()),
  limits: gateResult,
  gates: z.object({ 1: gateResult, 2: gateResult, 3: gateResult, 4: gateResult }),
  limitFailures: z.int(),
  refusedEdges: z.int(),
  worst: z.object({ fraction: z.number(), case: z.string() }).nullable(),
  alarms: z.array(z.string()).describe('cases over the depth bound but within the spec bound'),
  cases: z.array(contractCase),
  known: z.string().nullable().describe('reason of the known finding that explains a failure; null otherwise'),
  skipped: z.string().optional().describe('feature absent: what the device lacks; absent where the gates were tried'),
  gateMs: z.number(),
});

/** One planted fault, and whether the gate that must catch it did. */
export const contractControlRecord = z.object({
  ...base,
  kind: z.literal('contract-control'),
  kernel: z.string(),
  control: z.string(),
  gate: z.int().min(1).max(4),
  caught: z.boolean(),
  planted: z.boolean().optional().describe('false: its line is not in the shader, so no gate was tried; absent: an engine before it was told apart'),
  detail: z.string(),
});

/** The totals, and the line that was printed. */
export const contractSummaryRecord = z.object({
  ...base,
  kind: z.literal('contract-summary'),
  line: z.string(),
  kernels: z.int(),
  pass: z.int(),
  fail: z.int(),
  known: z.int(),
  skipped: z.int().optional().describe('kernels that need a feature that the device lacks; absent: none, or an engine before there were such'),
  unexpectedPasses: z.array(z.string()),
  controls: z.int(),
  caught: z.int(),
  missed: z.int(),
  limitFailures: z.int(),
  gatesMs: z.number(),
});

/** One edit of a shipped shader, and what the kernel's gates said of it. */
const contractMutant = z.object({
  rule: z.string().describe('kind of edit'),
  file: z.string().optional().describe('shader file, from kernels/ on; absent in old records: NAME/NAME.wgsl'),
  line: z.int().min(1).describe('of that file'),
  before: z.string(),
  after: z.string(),
  outcome: z
    .enum(['red', 'hung', 'broke', 'survived'])
    .describe('red: a gate caught it; hung: no case ended in time; broke: the device or its process was lost; survived: every gate stayed green'),
  gate: z.int().min(1).max(4).nullable().describe('the gate that went red first'),
  detail: z.string(),
});

/** The mutants of one kernel (`contract --mutants`). Edits that do not compile are no mutants. */
export const contractMutantsRecord = z.object({
  ...base,
  kind: z.literal('contract-mutants'),
  kernel: z.string(),
  group: z.string(),
  seed: z.int(),
  edits: z.int().describe('edits that the rules can make of this shader'),
  uncompiled: z.int().describe('edits that were tried and do not compile'),
  caught: z.int().describe('mutants that did not survive'),
  mutants: z.array(contractMutant),
  unjudged: z.string().nullable().describe('why no mutant was judged: a gate is red without any edit'),
  wallMs: z.number().nonnegative(),
});

/** All kernels' mutants, and the line that was printed. */
export const contractMutantsSummaryRecord = z.object({
  ...base,
  kind: z.literal('contract-mutants-summary'),
  line: z.string(),
  caught: z.int(),
  mutants: z.int(),
});

/** One timed pass. All times are milliseconds of the engine's own monotonic clock. */
export const timing = z.object({
  definition: z.string().describe('which interval `totalMs` is and whether logits were read back inside it'),
  logitsReadBack: z.boolean(),
  loadMs: milliseconds.describe('process start of loading to weights resident'),
  prefillMs: milliseconds.describe('submit of the first prompt chunk to the first generated id on the host'),
  decodeMs: z.object({ steps: z.int(), total: milliseconds, p50: milliseconds, p90: milliseconds }),
  totalMs: milliseconds.describe('prefill + decode of the timed pass'),
});

/** Greedy decode of one prompt. `digest` = SHA-256 over all logits rows, little-endian float32, in step order. */
export const decodeRecord = z.object({
  ...base,
  kind: z.literal('decode'),
  model: z.object({ id: z.string(), sha256: sha256.describe('of model.safetensors, or of its shards in index order') }),
  prompt: z.object({ name: z.string().nullable(), tokens: z.int(), sha256: sha256.describe('of the ids as little-endian uint32') }),
  steps: z.int(),
  context: z.int(),
  ids: z.array(z.int()),
  text: z.string(),
  digest: sha256,
  stepDigests: z.array(sha256),
  checksumsMatch: z.boolean().describe('the timed pass reproduced pass 1’s per-step device checksums'),
  pinnedIdsMatch: z.boolean().nullable().describe('against --pinned-ids; null where the case pins none'),
  timing,
  counters,
  memory: memory.optional(),
  ran: ran.optional().describe('absent: an engine before it was told'),
  tuned: z.object({ path: z.string(), sha256 }).nullable().optional().describe('the file of choices; null: the settings alone chose'),
  settings: z.record(z.string(), z.string()),
  adapter: z.string(),
  profile: z
    .object({
      definition: z.string(),
      timestamps: timestampTrust,
      readCeilingGbPerS: z.number().positive().optional().describe('of the largest buffer, as probe measures it; absent: an engine before it measured it'),
      tokens: z.int(),
      prompt: z.array(profileRow),
      token: z.array(profileRow),
      promptGpuMs: milliseconds,
      tokenGpuMs: milliseconds,
      hostMs: milliseconds.describe('recording and submitting a token as decoding does, without stamps; median'),
    })
    .optional()
    .describe('--profile: GPU time by kernel, of passes of one dispatch each; never comparable with `timing`'),
  logitsFile: z.object({ path: z.string(), bytes: z.int(), sha256 }).nullable(),
});

/** The engine broke (exit 70) or timed out (exit 124): what it knew. */
export const failureRecord = z.object({ ...base, kind: z.literal('failure'), reason: z.string(), next: z.string() });

/** Last line of a process that executed. */
export const endRecord = z.object({
  ...base,
  kind: z.literal('end'),
  records: z.int().describe('lines before this one, so that a lost line shows'),
  wallMs: milliseconds,
  vmHwmKiB: z.int().nullable().describe('peak resident set from /proc/self/status (maxRSS is inherited across exec); null off Linux'),
  majorFaults: z.int().nullable(),
});

export const engineRecordLine = z.discriminatedUnion('kind', [
  engineRecord,
  adapterRecord,
  refusedRecord,
  contractKernelRecord,
  contractControlRecord,
  contractSummaryRecord,
  contractMutantsRecord,
  contractMutantsSummaryRecord,
  decodeRecord,
  twoLengthRecord,
  inventoryRecord,
  probeRecord,
  benchRecord,
  tuneRecord,
  failureRecord,
  endRecord,
]);

export type EngineRecord = z.infer<typeof engineRecordLine>;
export type AdapterRecord = z.infer<typeof adapterRecord>;
export type ContractKernelRecord = z.infer<typeof contractKernelRecord>;
export type ContractControlRecord = z.infer<typeof contractControlRecord>;
export type ContractSummaryRecord = z.infer<typeof contractSummaryRecord>;
export type ContractMutantsRecord = z.infer<typeof contractMutantsRecord>;
export type TwoLengthRecord = z.infer<typeof twoLengthRecord>;
export type InventoryRecord = z.infer<typeof inventoryRecord>;
export type BenchRecord = z.infer<typeof benchRecord>;
export type TuneRecord = z.infer<typeof tuneRecord>;
export type ProbeRecord = z.infer<typeof probeRecord>;
export type DecodeRecord = z.infer<typeof decodeRecord>;

/**
 * Parses a records file.
 * @returns the records in order and whether the file is whole (ends in an `end` record that counts the lines before it).
 * @throws Error naming the line number when a line is no record of a known schema.
 */
export function parseRecords(text: string): { records: EngineRecord[]; whole: boolean } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const records = lines.map((line, index) => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      throw new Error(`records line ${index + 1} is not JSON: ${line.slice(0, 80)}`, { cause });
    }
    const parsed = engineRecordLine.safeParse(value);
    if (!parsed.success) throw new Error(`records line ${index + 1}: ${z.prettifyError(parsed.error)}`);
    return parsed.data;
  });
  const last = records.at(-1);
  return { records, whole: last?.kind === 'end' && last.records === records.length - 1 };
}
