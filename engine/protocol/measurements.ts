/** Records of measurements: what a token consists of, what a device and a kernel can do. Imports zod and the frame only. */
import { z } from 'zod';
import { base, milliseconds, sha256 } from './frame.ts';

export const timestampTrust = z.object({
  available: z.boolean(),
  trusted: z.boolean(),
  ratio: z.number().nullable().describe('median of stamped span / wall span from before encoding to the empty queue, over runs of some 10 ms; null: none'),
  ratioOfWait: z.number().nullable().describe('the same of the wall span from the submit’s return on'),
  why: z.string().describe('why they are not trusted; empty otherwise'),
});

export const profileRow = z.object({
  dispatch: z.string().describe('kernel/variant and its grid of workgroups'),
  dispatches: z.int(),
  gpuMs: milliseconds.describe('of all of them together'),
  boundBytes: z.number().nonnegative().optional().describe('of all of them together, each binding counted once; absent: an engine before it counted them'),
  share: z
    .number()
    .nullable()
    .optional()
    .describe('boundBytes / gpuMs as a share of the read ceiling; null above 1: a kernel that reads little of what it binds, or finds it in a cache'),
});

export const counters = z.object({
  submits: z.record(z.string(), z.int()).describe('per trigger: token, prompt, readback, upload, batch-cap, timestamp'),
  dispatches: z.record(z.string(), z.int()).describe('per kernel'),
  bytesReadBack: z.int(),
});

export const memory = z
  .object({
    weightBytes: z.int().describe('of the buffers that loading made'),
    residentBytes: z.int().describe('of all buffers, ready to decode: weights, caches, state, scratch and uniforms; a driver may add its own'),
    peakBytes: z.int().describe('the most at once, until the timed pass had ended'),
    beforeLoadKiB: z.int().nullable().describe('VmHWM, the peak resident set of the process so far: before loading; null off Linux'),
    afterLoadKiB: z.int().nullable().describe('the same once the weights were resident; a CPU driver’s buffers are in it'),
  })
  .describe('absent: an engine before it was counted');

/** Exact counts of one token (`decode --two-length A,B`): (counts of B − counts of A) / (B − A), every one of them whole. */
export const twoLengthRecord = z.object({
  ...base,
  kind: z.literal('two-length'),
  runs: z.tuple([z.object({ steps: z.int(), counters }), z.object({ steps: z.int(), counters })]),
  perToken: counters,
});

const place = z.int().nonnegative();

/** The dispatches of one token and what orders them (`inventory`). Dispatches are named by their place in the pass. */
export const inventoryRecord = z.object({
  ...base,
  kind: z.literal('inventory'),
  model: z.string(),
  settings: z.record(z.string(), z.string()),
  bindingLimit: z.int().describe('bytes of one binding that the plan is for: a larger head is dispatched in parts'),
  sections: z
    .array(z.object({ kind: z.enum(['embed', 'linear_attention', 'full_attention', 'head']), times: z.int(), dispatches: z.array(z.string()) }))
    .describe('kernel/variant of one layer of each kind, and how many layers there are of it'),
  dispatches: z.array(
    z.object({ kernel: z.string(), variant: z.string(), bindings: z.array(z.object({ buffer: z.string(), access: z.enum(['read', 'read_write']) })) }),
  ),
  buffers: z.array(
    z.object({
      buffer: z.string(),
      producers: z.array(place),
      consumers: z.array(place),
      carried: z.boolean().describe('the token reads what was there before it: a weight, a state, or what the token before left'),
    }),
  ),
  edges: z.array(z.object({ from: place, to: place, buffer: z.string(), hazard: z.enum(['read-after-write', 'write-after-read', 'write-after-write']) })),
  serial: z.int().describe('dispatches one after the other'),
  slots: z.int().describe('runs of dispatches without a barrier between them, in the order recorded'),
  critical: z.int().describe('longest chain of edges: the most that overlap could win is serial − critical'),
  dataCritical: z.int().describe('longest chain of reads after writes: as if no buffer were used twice'),
  recorded: z.int().describe('dispatches of a token that was really recorded, on Dawn’s null backend, and that the table was held to'),
});

const latency = z.object({ samples: z.int().min(1), p50Us: z.number().nonnegative(), p99Us: z.number().nonnegative() });

/** What the device itself can do, measured: the ceilings that kernels are held against. Gigabytes are 10⁹ bytes. */
export const probeRecord = z.object({
  ...base,
  kind: z.literal('probe'),
  adapter: z.string(),
  clock: z.enum(['timestamp', 'wall']).describe('what times on the device were taken by: wall wherever timestamps are not trusted'),
  timestamps: timestampTrust,
  readStream: z.array(
    z.object({
      bytes: z.int(),
      ms: z.number().positive().describe('one read of the buffer: the fastest sample'),
      gbPerS: z.number().positive(),
      repeats: z.int().describe('reads a sample'),
      vectors: z.int().describe('16-byte loads a lane, of the grid that was fastest'),
    }),
  ),
  readCeilingGbPerS: z.number().positive().describe('of the largest buffer, which no cache holds'),
  dispatch: z
    .object({ dispatches: z.int(), pipelines: z.int(), gpuUs: z.number().nullable(), hostUs: z.number(), wallUs: z.number() })
    .describe('one more dependent dispatch in a pass, pipelines in turn: on the device (null: timestamps not trusted), on the host, and in all'),
  submitWait: latency.describe('one dispatch submitted and waited for on an idle queue'),
  submitMap: latency.describe('256 bytes copied, submitted and mapped on an idle queue'),
  probeMs: milliseconds,
});

const ranRow = z.object({
  kernel: z.string(),
  variant: z.string(),
  family: z.string().describe('of the kernel’s contract: variants of one family give the same bits'),
  shape: z.string().describe('k=v,…'),
  dispatches: z.int().describe('of this shape in the pass'),
});

const subgroups = z.string().describe('kernels that use subgroups, comma-separated; none: no kernel does');

/** The variants that a decode really ran. */
export const ran = z.object({ subgroups, prompt: z.array(ranRow).describe('a pass of each number of rows, and the head'), token: z.array(ranRow) });

const measuredVariant = z.object({
  variant: z.string(),
  family: z.string(),
  ms: z.number().nonnegative().describe('one call; median over rounds'),
  bestMs: z.number().nonnegative(),
  outputSha256: sha256,
  sameInFamily: z.boolean().describe('the outputs are bit for bit those of the family’s first variant'),
});

const refusedVariant = z.object({ variant: z.string(), why: z.string() });

/** The variants that are fastest on a device, by shape (`tune`); a file of choices is this record. */
export const tuneRecord = z.object({
  ...base,
  kind: z.literal('tune'),
  adapter: z.string(),
  driver: z.string(),
  evidence: z.enum(['gpu', 'software']),
  model: z.string(),
  settings: z.record(z.string(), z.string()),
  families: z.enum(['within', 'any']).describe('within: each step keeps its family, so that no digest changes'),
  rounds: z.int(),
  clock: z.enum(['timestamp', 'wall']),
  choices: z.array(
    z.object({
      kernel: z.string(),
      shape: z.record(z.string(), z.number()),
      present: z.string().describe('what the settings would run'),
      variant: z.string().describe('what was chosen'),
      family: z.string(),
      variants: z.array(measuredVariant),
      refused: z.array(refusedVariant),
    }),
  ),
});

/** Variants of one kernel on one shape, interleaved in one process (`bench`). */
export const benchRecord = z.object({
  ...base,
  kind: z.literal('bench'),
  adapter: z.string(),
  kernel: z.string(),
  shape: z.object({ name: z.string(), fields: z.record(z.string(), z.number()) }),
  fill: z.string(),
  clock: z.enum(['timestamp', 'wall']),
  rounds: z.int(),
  copies: z.int().describe('sets of buffers that the calls go round, so that no cache holds them; 1 on a CPU driver'),
  bytes: z.int().describe('of one call, each binding counted once'),
  ceiling: z.object({ bytes: z.int(), gbPerS: z.number() }).describe('read stream of a buffer of the size that the calls go round'),
  variants: z.array(measuredVariant.extend({ gbPerS: z.number(), share: z.number().describe('of the ceiling') })),
  subgroups: subgroups.optional().describe('absent: an engine before it was told'),
  refused: z.array(refusedVariant),
});
