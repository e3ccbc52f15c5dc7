import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { EVENTS } from './events.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const sources = ['.', 'queue', 'heads', 'http'].flatMap((folder) =>
  readdirSync(join(HERE, folder))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'events.ts')
    .map((name) => readFileSync(join(HERE, folder, name), 'utf8')),
);
/** Names that are logged, and names that are stored as rows of `events`. */
const used = new Set(sources.flatMap((text) => [...text.matchAll(/(?:log\.event\(|name: )'([a-z]+\.[a-z-]+)'/g)].map((match) => match[1]!)));

it('registers every event that is logged or stored, and no other', () => {
  expect([...used].toSorted()).toEqual(Object.keys(EVENTS).toSorted());
});
