/** The inventory for people: a table of dispatches a layer kind, a table of buffers, and the slots. */
import type { InventoryRecord } from '../protocol.ts';

/** Layers are alike, so that buffers of one role and dispatches of one kernel are told once. */
export function inventoryLines(record: InventoryRecord): string[] {
  const { sections, serial, slots, critical, dataCritical } = record;
  return [
    `${record.model}: ${serial} dispatches a token, with bindings of up to ${record.bindingLimit} bytes`,
    ...sections.flatMap(({ kind, times, dispatches }) => [
      `${kind}${times > 1 ? ` × ${times}` : ''}: ${dispatches.length} dispatches${times > 1 ? ` each, ${dispatches.length * times} in all` : ''}`,
      ...tally(dispatches).map(([name, count]) => `${String(count).padStart(5)}  ${name}`),
    ]),
    'buffers that are written: producers → consumers',
    ...bufferLines(record),
    `serial ${serial}; ${slots} slots between barriers as recorded; critical ${critical} (overlap could win ${serial - critical}); ` +
      `critical ${dataCritical} if no buffer were used twice`,
    `held to a token of ${record.recorded} dispatches recorded on Dawn's null backend`,
  ];
}

function bufferLines({ buffers, dispatches }: InventoryRecord): string[] {
  const roles = new Map<string, { count: number; producers: string[]; consumers: string[]; carried: boolean }>();
  const kernels = (places: readonly number[]): string[] => places.map((place) => dispatches[place]!.kernel);
  for (const { buffer, producers, consumers, carried } of buffers) {
    if (producers.length === 0) continue;
    const role = buffer.replaceAll(/\d+/g, '*');
    const row = roles.get(role) ?? { count: 0, producers: [], consumers: [], carried: false };
    const both = { producers: [...row.producers, ...kernels(producers)], consumers: [...row.consumers, ...kernels(consumers)] };
    roles.set(role, { count: row.count + 1, ...both, carried: row.carried || carried });
  }
  const list = (names: readonly string[]): string =>
    tally(names)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ') || 'the host or the next token';
  return Array.from(roles, ([role, { count, producers, consumers, carried }]) => {
    const copies = count > 1 ? ` (${count} buffers)` : '';
    return `  ${role}${copies}: ${list(producers)} → ${list(consumers)}${carried ? '; read before it is written' : ''}`;
  });
}

/** Names and how often each comes, in the order of first appearance. */
function tally(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts];
}
