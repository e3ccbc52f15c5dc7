import { describe, expect, it } from 'vitest';
import type { Gpu } from '../gpu/device.ts';
import { planGpu } from '../gpu/null-device.ts';
import { Weights } from '../model/weights.ts';
import { openGraphs, promptHeadSteps, tokenSteps } from './decoder.ts';
import { forwardSteps, headSteps } from './graph.ts';
import { subjectOf } from './inventory.ts';
import { DecodeState, Scratch, sharedRoles } from './memory.ts';
import { parseSettings, variantsOf } from './settings.ts';
import type { Step } from './step.ts';

/** A device that binds 2 GiB − 4, as an NVIDIA one does. */
const plan = (): Gpu => planGpu(2 ** 31 - 4);

describe('the buffers of 2b at a context of 1,536', () => {
  const { config } = subjectOf({ config: '2b' });

  // What they may take: issue "Decode at the speed of the device". The checkpoint alone has 1.059 · 10⁹ bytes.
  it.each([
    [],
    ['fusion=on'],
    ['fusion=on', 'chunk=1024', 'gdn-prompt=chunked'],
    ['fusion=on', 'chunk=1024', 'gdn-prompt=chunked', 'qmm-prompt=matrix-2'],
    ['chunk=1024'],
  ])('take at most 1.35 GB with %j', (...given) => {
    const gpu = plan();
    const weights = Weights.allocate(gpu, config);
    expect(gpu.buffers.live).toBeGreaterThan(1.059e9);
    const settings = parseSettings(given);
    const rows = Number(settings['chunk']);
    const { graph, scratch } = openGraphs(gpu, config, weights, { context: 1536, ...variantsOf(settings) }, rows);
    const chunk = graph(rows, 'chunk');
    for (const steps of [tokenSteps(graph(1, 'token')), forwardSteps(chunk, scratch.rows('prompt ids', 1)), promptHeadSteps(chunk)])
      expect(steps.length).toBeGreaterThan(0);
    expect(gpu.buffers.live).toBeLessThan(1.35e9);
    expect(gpu.buffers.peak).toBe(gpu.buffers.live);
  });
});

/** By role, the places from each write to the last read before the next: where its buffer holds something that is still wanted. */
function livesOf(steps: readonly Step[]): Map<string, { from: number; to: number }[]> {
  const lives = new Map<string, { from: number; to: number }[]>();
  for (const [at, { kernel, buffers }] of steps.entries()) {
    for (const { name, access } of kernel.bindings) {
      const ref = buffers[name]!;
      const { label } = 'buffer' in ref ? ref.buffer : ref;
      const known = lives.get(label) ?? [];
      lives.set(label, known);
      const last = known.at(-1);
      if (access === 'read_write') known.push({ from: at, to: at });
      else if (last) last.to = at;
    }
  }
  return lives;
}

describe.each(['tiny', '2b', 'awkward'])('shared roles of %s', (name) => {
  const { config } = subjectOf({ config: name });

  it.each(['token', 'chunk'] as const)('never hold two things at once in a %s pass, and are as wide as the widest', (kind) => {
    const gpu = plan();
    const rows = kind === 'token' ? 1 : 5;
    const { graph } = openGraphs(gpu, config, Weights.allocate(gpu, config), { context: 8, ...variantsOf(parseSettings([])) }, rows);
    // The same graph with a buffer for each role, whose label is the role.
    const scratch = new Scratch(gpu, rows, []);
    const alone = { ...graph(rows, kind), scratch, state: new DecodeState(gpu, config, 8) };
    const lives = livesOf([...forwardSteps(alone, scratch.fixed('ids', rows)), ...headSteps(alone)]);
    for (const { roles, width } of sharedRoles(config)) {
      const spans = roles.flatMap((role) => (lives.get(role) ?? []).map((span) => ({ role, ...span }))).toSorted((a, b) => a.from - b.from);
      // A token's products have buffers of their own.
      const used = roles.filter((role) => kind === 'chunk' || !role.endsWith(' input'));
      expect(new Set(spans.map(({ role }) => role))).toEqual(new Set(used));
      const overlaps = spans.slice(1).filter((next, index) => spans[index]!.role !== next.role && spans[index]!.to >= next.from);
      expect(overlaps).toEqual([]);
      const widest = Math.max(...used.map((role) => scratch.rows(role, 0).size)) / 4 / rows;
      expect(kind === 'chunk' ? widest : Math.max(widest, width)).toBe(width);
    }
  });
});
