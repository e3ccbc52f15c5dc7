/**
 * A model ready to decode one prompt: every pipeline compiled and every bind group built, so that a token allocates nothing
 * and is one pass in one submit. The argmax result is the next pass's id, on the device.
 */
import { EngineBroken } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { Programs, type Dispatch } from '../gpu/programs.ts';
import type { Stream } from '../gpu/stream.ts';
import type { ModelConfig } from '../model/config.ts';
import type { WeightTable } from '../model/weights.ts';
import { fusedHead, fusedTokenSteps, productVariant, refuseUnlessFused } from './fused.ts';
import type { GraphContext } from './graph-context.ts';
import { forwardSteps, headOutputs, headSteps, lastRow, type HeadOutputs } from './graph.ts';
import { DecodeState, ropeTable, Scratch, sharedRoles } from './memory.ts';
import { ranOf, type RanRow } from './ran.ts';
import { buildSteps, type Step } from './step.ts';

export interface DecoderOptions {
  readonly prompt: readonly number[];
  /** Positions of the caches. */
  readonly context: number;
  /** Rows of one prefill pass. */
  readonly chunk: number;
  /** Variant of qmm-q4 for one row. */
  readonly qmm: string;
  /** Variant of qmm-q4 for the rows of a prompt chunk, or `auto`. */
  readonly qmmPrompt: string;
  /** How the delta rule of several rows is computed. */
  readonly gdnPrompt: string;
  /** Attention of one token. */
  readonly sdpa: GraphContext['sdpa'];
  /** The pass of one token in fused kernels: `qmm` and `sdpa` are then theirs. */
  readonly fusion: GraphContext['fusion'];
  /** Puts a step in another variant; absent: the variants are those of the settings. */
  readonly choose?: ((step: Step) => Step) | undefined;
}

/** A part of the prompt: `rows` ids from position `start` on. */
interface Chunk {
  readonly start: number;
  readonly rows: number;
}

/**
 * Dispatches of a chunk that the device gets at once: it runs them (a layer or so, 4 ms of 1,024 rows on an H200) while the host records
 * the others (3 ms).
 */
const FIRST_DISPATCHES = 24;

/** Whole chunks, then one of what is left: no pass has dead rows, so no kernel needs to know of any. */
export function chunksOf(length: number, chunk: number): Chunk[] {
  const chunks: Chunk[] = [];
  for (let start = 0; start < length; start += chunk) chunks.push({ start, rows: Math.min(chunk, length - start) });
  return chunks;
}

export interface Graphs {
  /** What the steps of a pass of `rows` rows share. */
  readonly graph: (rows: number, kind: GraphContext['kind']) => GraphContext;
  readonly scratch: Scratch;
  readonly state: DecodeState;
  /** u32 [1] of the position of row 0. */
  readonly position: GPUBuffer;
}

/** Makes the buffers of a decode. @param mostRows rows of its largest pass. */
export function openGraphs(
  gpu: Gpu,
  config: ModelConfig,
  weights: WeightTable,
  { context, qmmPrompt, gdnPrompt, fusion, ...options }: Omit<DecoderOptions, 'prompt' | 'chunk' | 'choose'>,
  mostRows: number,
): Graphs {
  if (fusion !== 'off') refuseUnlessFused(config);
  // The prompt's last row goes through the head alone, and belongs to the same family.
  const [qmm, sdpa] = fusion === 'off' ? [options.qmm, options.sdpa] : [productVariant(fusion, config.vocab), 'split' as const];
  const scratch = new Scratch(gpu, mostRows, sharedRoles(config));
  const state = new DecodeState(gpu, config, context);
  const position = scratch.fixed('position', 1);
  const table = scratch.fixed('rope table', context * config.rotary);
  gpu.device.queue.writeBuffer(table, 0, ropeTable(context, config.rotary, config.ropeTheta));
  const graph = (rows: number, kind: GraphContext['kind']): GraphContext => ({
    config,
    weights,
    state,
    scratch,
    context,
    ropeTable: table,
    position,
    qmm,
    qmmPrompt,
    gdnPrompt,
    sdpa,
    fusion,
    rows,
    kind,
  });
  return { graph, scratch, state, position };
}

/** The steps of one token: its id is the last argmax's result. */
export function tokenSteps(graph: GraphContext): Step[] {
  if (graph.fusion !== 'off') return fusedTokenSteps(graph, headOutputs(graph).result);
  return [...forwardSteps(graph, headOutputs(graph).result), ...headSteps(graph)];
}

/** The steps from the last row of a prompt's last chunk to its logits, their argmax and their checksum. */
export function promptHeadSteps(graph: GraphContext): Step[] {
  return graph.fusion === 'off' ? headSteps(graph) : fusedHead(graph, lastRow(graph));
}

export class Decoder {
  readonly outputs: HeadOutputs;
  /** What its passes run: a chunk of each number of rows and the head of the prompt, and a token. */
  readonly ran: { readonly prompt: readonly RanRow[]; readonly token: readonly RanRow[] };
  readonly #prompt: Uint32Array<ArrayBuffer>;
  readonly #chunks: readonly Chunk[];
  readonly #state: DecodeState;
  readonly #position: GPUBuffer;
  readonly #ids: GPUBuffer;
  readonly #chunkPasses: ReadonlyMap<number, readonly Dispatch[]>;
  readonly #lastHead: readonly Dispatch[];
  readonly #token: readonly Dispatch[];

  private constructor(parts: {
    outputs: HeadOutputs;
    prompt: Uint32Array<ArrayBuffer>;
    chunks: readonly Chunk[];
    state: DecodeState;
    position: GPUBuffer;
    ids: GPUBuffer;
    chunkPasses: ReadonlyMap<number, readonly Dispatch[]>;
    lastHead: readonly Dispatch[];
    token: readonly Dispatch[];
    ran: Decoder['ran'];
  }) {
    this.ran = parts.ran;
    this.outputs = parts.outputs;
    this.#prompt = parts.prompt;
    this.#chunks = parts.chunks;
    this.#state = parts.state;
    this.#position = parts.position;
    this.#ids = parts.ids;
    this.#chunkPasses = parts.chunkPasses;
    this.#lastHead = parts.lastHead;
    this.#token = parts.token;
  }

  /** Builds everything for one prompt. @throws as `buildSteps`. */
  static async create(gpu: Gpu, config: ModelConfig, weights: WeightTable, options: DecoderOptions): Promise<Decoder> {
    const chunks = chunksOf(options.prompt.length, options.chunk);
    const first = chunks[0];
    const last = chunks.at(-1);
    if (!first || !last) throw new EngineBroken('a prompt has at least one id');
    const { graph, scratch, state, position } = openGraphs(gpu, config, weights, options, first.rows);
    const ids = scratch.rows('prompt ids', 1);
    const programs = new Programs(gpu);
    const tokenGraph = graph(1, 'token');
    const outputs = headOutputs(tokenGraph);
    const chosen = (steps: readonly Step[]): Step[] => steps.map((step) => options.choose?.(step) ?? step);
    const [tokenPass, headPass] = [chosen(tokenSteps(tokenGraph)), chosen(promptHeadSteps(graph(last.rows, 'chunk')))];
    const chunkSteps = [...new Set(chunks.map((chunk) => chunk.rows))].map((rows) => ({ rows, steps: chosen(forwardSteps(graph(rows, 'chunk'), ids)) }));
    // All at once, so that a driver may compile on every core.
    const [token, lastHead, ...passes] = await Promise.all([
      buildSteps(gpu, programs, tokenPass),
      buildSteps(gpu, programs, headPass),
      ...chunkSteps.map(async ({ rows, steps }): Promise<[number, readonly Dispatch[]]> => [rows, await buildSteps(gpu, programs, steps)]),
    ]);
    const chunkPasses = new Map(passes);
    const ran = { prompt: ranOf([...chunkSteps.flatMap(({ steps }) => steps), ...headPass]), token: ranOf(tokenPass) };
    const prompt = Uint32Array.from(options.prompt);
    return new Decoder({ outputs, prompt, chunks, state, position, ids, chunkPasses, lastHead, token, ran });
  }

  /** Forgets the past. */
  reset(stream: Stream): void {
    this.#state.clear(stream);
    stream.submit('upload');
  }

  /**
   * Prefills the prompt. Leaves the rest of the last chunk and the head recorded but not submitted, so that the caller's copies travel
   * in the same submit; the chunks before it are submitted, since each chunk's ids are uploaded into one buffer.
   */
  recordPrompt(stream: Stream): void {
    for (const { start, rows } of this.#chunks) {
      stream.submit('upload');
      stream.upload(this.#position, Uint32Array.of(start));
      stream.upload(this.#ids, this.#prompt.subarray(start, start + rows));
      const pass = this.#chunkPasses.get(rows);
      this.#recordAll(stream, pass?.slice(0, FIRST_DISPATCHES));
      stream.submit('prompt');
      this.#recordAll(stream, pass?.slice(FIRST_DISPATCHES));
    }
    this.#recordAll(stream, this.#lastHead);
  }

  /** Records the pass that feeds the last argmax result back and computes logits `index` (1 is the first after the prompt's). */
  recordToken(stream: Stream, index: number): void {
    stream.upload(this.#position, Uint32Array.of(this.#prompt.length + index - 1));
    this.#recordAll(stream, this.#token);
  }

  #recordAll(stream: Stream, dispatches: readonly Dispatch[] | undefined): void {
    if (!dispatches) throw new EngineBroken('a pass was not built');
    for (const dispatch of dispatches) stream.record(dispatch);
  }
}
