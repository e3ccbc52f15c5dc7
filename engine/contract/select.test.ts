import { describe, expect, it } from 'vitest';
import { loadRegistry } from '../../kernels/registry.ts';
import { EngineUsage } from '../errors.ts';
import { select } from './select.ts';

describe('select', async () => {
  const registry = await loadRegistry();
  const groups = 'attention, datamove, fused, gdn, greedy, matrix, pointwise, projection';

  it.each([
    [{ group: 'typo' }, `--group typo: there is no such group; there is ${groups}`],
    [{ group: 'typo', kernel: 'copy' }, `--group typo: there is no such group; there is ${groups}`],
    [{ group: 'datamove', kernel: 'argmax' }, '--kernel argmax: there is no such kernel in group datamove; there is copy, gather, rows-to-halves'],
  ])('%j is refused with what there is of that kind', (selection, message) => {
    expect(() => select(registry, selection)).toThrow(new EngineUsage(message));
  });

  it('a group holds its kernels', () => {
    expect(select(registry, { group: 'datamove' }).contracted.map((entry) => entry.kernel.name)).toEqual(['copy', 'gather', 'rows-to-halves']);
  });
});
