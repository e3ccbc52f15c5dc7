import { describe, expect, it } from 'vitest';
import type { Access } from '../../kernels/contract.ts';
import { dependenciesOf, recordedFault, type Dependencies, type Use } from './dependencies.ts';
import { plan, recordedUses, subjectOf } from './inventory.ts';
import { sectionsOf } from './sections.ts';
import { parseSettings } from './settings.ts';

function use(kernel: string, reads: string, writes: string): Use {
  const bind = (names: string, access: Access): Use['bindings'] => names.split(' ').map((buffer) => ({ buffer, access }));
  return { kernel, variant: 'v', bindings: [...bind(reads, 'read'), ...bind(writes, 'read_write')] };
}

describe('dependenciesOf', () => {
  it('finds the edges, the slots and the longest chains of a diamond', () => {
    const table = dependenciesOf([use('norm', 'h w', 'n'), use('gate', 'n', 'g'), use('up', 'n', 'u'), use('mul', 'g u', 'a'), use('down', 'a', 'h')]);
    expect(table.edges.map(({ from, to, buffer, hazard }) => `${from}${to} ${buffer} ${hazard}`)).toEqual([
      '01 n read-after-write',
      '02 n read-after-write',
      '13 g read-after-write',
      '23 u read-after-write',
      '34 a read-after-write',
      '04 h write-after-read',
    ]);
    // norm | gate up | mul | down
    expect(table).toMatchObject({ serial: 5, slots: 4, critical: 4, dataCritical: 4 });
    expect(table.buffers).toContainEqual({ buffer: 'n', producers: [0], consumers: [1, 2], carried: false });
    expect(table.buffers).toContainEqual({ buffer: 'h', producers: [4], consumers: [0], carried: true });
    expect(table.buffers).toContainEqual({ buffer: 'w', producers: [], consumers: [0], carried: true });
  });

  it('tells what using a buffer twice costs', () => {
    const table = dependenciesOf([use('a', 'x', 's'), use('b', 's', 'y'), use('c', 'x', 's'), use('d', 's', 'z')]);
    expect(table.edges.map(({ hazard }) => hazard)).toEqual(['read-after-write', 'write-after-write', 'write-after-read', 'read-after-write']);
    expect(table).toMatchObject({ serial: 4, slots: 4, critical: 4, dataCritical: 2 });
  });
});

describe.each([
  ['tiny', ''],
  ['2b', ''],
  ['awkward', ''],
  ['tiny', 'fusion=on'],
  ['2b', 'fusion=on'],
  ['2b', 'fusion=fixed'],
])('the table of a token of %s %s', (name, given) => {
  const settings = parseSettings(given === '' ? [] : [given]);
  const { config } = subjectOf({ config: name });

  it('is what is recorded, and nothing can be taken from it', async () => {
    const { plan: table, uses } = await recordedUses(config, settings);
    expect(recordedFault(table, uses)).toBe('');
    const faults = (change: Partial<Dependencies>): string => recordedFault({ ...table, ...change }, uses);
    for (const [index, edge] of table.edges.entries()) {
      // Every edge of a small table; of a large one, some.
      if (name !== 'tiny' && index % 97 !== 0) continue;
      expect(faults({ edges: table.edges.toSpliced(index, 1) })).toContain(`lacks the edge ${edge.from} → ${edge.to}`);
    }
    expect(faults({ edges: [...table.edges, { from: 0, to: 9, buffer: 'z', hazard: 'read-after-write' }] })).toContain('which was not recorded');
    for (const at of [0, 5, table.uses.length - 1]) expect(faults({ uses: table.uses.toSpliced(at, 1) })).toMatch(/^dispatch \d+/);
    expect(faults({ buffers: table.buffers.slice(1) })).toContain('lacks the buffer');
    expect(faults({ critical: table.critical - 1 })).toContain('critical is');
    const [first, ...others] = table.uses;
    const swapped = { ...first!, bindings: first!.bindings.map((binding) => ({ ...binding, access: 'read' as const })) };
    expect(faults({ uses: [swapped, ...others] })).toContain('dispatch 0, embed-q4/');
  });

  it('has every dispatch in one section, and layers of a kind alike', () => {
    const table = plan(config, settings, 2 ** 31 - 4);
    const sections = sectionsOf(config, table.uses);
    expect(sections.map(({ kind }) => kind)).toEqual(['embed', 'linear_attention', 'full_attention', 'head']);
    expect(sections.reduce((sum, { times }) => sum + times, 0)).toBe(config.layerTypes.length + 2);
    expect(sections.reduce((sum, { times, dispatches }) => sum + times * dispatches.length, 0)).toBe(table.serial);
    for (const { dispatches } of sections) expect(dispatches.length).toBeGreaterThan(0);
    expect(table.critical).toBeLessThanOrEqual(table.slots);
    expect(table.slots).toBeLessThanOrEqual(table.serial);
  });
});
