/** The walls hold: each planted import that crosses one is refused by the project's own lint configuration. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
let tree: string;

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'fleet-walls-'));
  cpSync(join(root, '.oxlintrc.json'), join(tree, '.oxlintrc.json'));
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** Lints one file that imports `specifier`; returns the messages of the wall rule. */
function lint(file: string, specifier: string): string {
  const path = join(tree, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `import { thing } from '${specifier}';\nexport const other: unknown = thing;\n`);
  const result = spawnSync(join(root, 'node_modules/.bin/oxlint'), [file], { cwd: tree, encoding: 'utf8' });
  rmSync(path);
  return result.stdout.includes('no-restricted-imports') ? result.stdout : '';
}

const crossings: [file: string, specifier: string][] = [
  ['kernels/copy/copy.ts', '../../engine/gpu/device.ts'],
  ['kernels/copy/copy.ts', 'webgpu'],
  ['engine/gpu/device.ts', '../../coordinator/protocol/run.ts'],
  ['engine/main.ts', 'bullmq'],
  ['engine/protocol.ts', './gpu/device.ts'],
  ['engine/protocol.ts', 'node:fs'],
  ['engine/protocol/frame.ts', '../gpu/device.ts'],
  ['engine/protocol/frame.ts', 'node:fs'],
  ['agent/main.ts', '../engine/protocol/frame.ts'],
  ['agent/main.ts', '../engine/gpu/device.ts'],
  ['agent/main.ts', '../coordinator/queue/enqueue.ts'],
  ['agent/main.ts', '../db/open.ts'],
  ['db/runs.ts', '../coordinator/core/verdict.ts'],
  ['db/runs.ts', '../web/app.tsx'],
  ['web/run-page.tsx', '../db/runs.ts'],
  ['web/run-page.tsx', '../coordinator/core/verdict.ts'],
  ['coordinator/main.ts', '../agent/spool.ts'],
  ['coordinator/main.ts', '../engine/gpu/device.ts'],
  ['coordinator/http/runs.ts', 'bullmq'],
  ['coordinator/core/verdict.ts', '../queue/enqueue.ts'],
  ['coordinator/core/verdict.ts', '../../db/runs.ts'],
  ['coordinator/core/verdict.ts', 'node:fs'],
  ['coordinator/cli/submit.ts', '../queue/enqueue.ts'],
  ['coordinator/cli/submit.ts', '../../agent/main.ts'],
  ['coordinator/protocol/run.ts', '../core/verdict.ts'],
  ['coordinator/protocol/run.ts', 'node:fs'],
];

test.each(crossings)('%s may not import %s', (file, specifier) => {
  expect(lint(file, specifier)).toContain(specifier);
});

const allowed: [file: string, specifier: string][] = [
  ['engine/contract/run.ts', '../../kernels/registry.ts'],
  ['agent/main.ts', '../engine/protocol.ts'],
  ['engine/protocol.ts', './protocol/frame.ts'],
  ['agent/main.ts', '../coordinator/protocol/agent.ts'],
  ['db/runs.ts', '../coordinator/protocol/run.ts'],
  ['web/run-page.tsx', '../coordinator/protocol/run.ts'],
  ['coordinator/main.ts', '../db/open.ts'],
  ['coordinator/main.ts', '../web/app.tsx'],
  ['coordinator/queue/enqueue.ts', 'bullmq'],
  ['coordinator/core/verdict.ts', '../protocol/verdict.ts'],
  ['coordinator/protocol/run.ts', '../../engine/protocol.ts'],
];

test.each(allowed)('%s may import %s', (file, specifier) => {
  expect(lint(file, specifier)).toBe('');
});
