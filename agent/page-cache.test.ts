import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dropPageCache } from './page-cache.ts';

it('asks the kernel for the page cache alone, and knows nothing where it may not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-cache-'));
  const file = join(folder, 'drop_caches');
  writeFileSync(file, '');
  expect(await dropPageCache(file)).toBe('dropped');
  expect(readFileSync(file, 'utf8')).toBe('1\n');
  expect(await dropPageCache(join(folder, 'none'))).toBe(null);
  rmSync(folder, { recursive: true });
});
