#!/usr/bin/env node
// The launcher: lets Node run the repository's TypeScript from any working directory, then hands over to fleet.ts.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (relative) => fileURLToPath(new URL(relative, import.meta.url));
if (!existsSync(at('../../node_modules/tsx/package.json'))) {
  process.stderr.write(`fleet: the dependencies are not installed. next: node ${at('./setup.mjs')}\n`);
  process.exit(5);
}
// Rooms that fleet.ts spawns inherit this: tsx would otherwise look for a tsconfig.json in the caller's directory, and
// pages would lose their jsx setting.
process.env['TSX_TSCONFIG_PATH'] = at('../../tsconfig.json');
// Loaded before the hooks below, which would take every one of their files through another thread: a fifth of the start-up.
await Promise.all(['zod', 'commander', 'smol-toml'].map((name) => import(name)));
const { register } = await import('tsx/esm/api');
register();
await import('./fleet.ts');
