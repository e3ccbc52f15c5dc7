import { expect, it } from 'vitest';
import { plan, subjectOf } from '../decode/inventory.ts';
import { parseSettings } from '../decode/settings.ts';
import { hostCost } from './host-cost.ts';

const settings = parseSettings([]);

it('counts a token of the tiny model as its inventory does', async () => {
  const cost = await hostCost('tiny', settings);
  const { serial, uses } = plan(subjectOf({ config: 'tiny' }).config, settings, 2 ** 27);
  expect(cost).toMatchObject({ dispatchesPerToken: serial, dispatchesUnsplit: serial, submitsPerToken: 1, bytesReadPerToken: 4 });
  for (const [kernel, count] of Object.entries(cost.dispatches)) expect([kernel, count]).toEqual([kernel, uses.filter((use) => use.kernel === kernel).length]);
  expect(cost.hostMsRange[0]).toBeGreaterThan(0);
  expect(cost.hostMsPerToken).toBeGreaterThanOrEqual(cost.hostMsRange[0]);
});

it('fits a token of 2b into the null backend, the table and the head in parts', async () => {
  const cost = await hostCost('2b', settings);
  expect(cost).toMatchObject({ submitsPerToken: 1, bytesReadPerToken: 4, bindingLimit: 2 ** 27 });
  // One more part of each.
  expect(cost.dispatchesPerToken).toBe(cost.dispatchesUnsplit + 2);
});

it('counts 136 dispatches of a token of 2b in fused kernels', () => {
  expect(plan(subjectOf({ config: '2b' }).config, parseSettings(['fusion=on']), 2 ** 31 - 4).serial).toBe(136);
});
