#!/usr/bin/env node
/**
 * Makes a fresh clone ready: what `npm run demo`, `npm test` and `npm run check` call first. Imports nothing that has to be
 * installed. On a machine with Node ≥ 20.19 and git it adds, only where missing: dependencies (`npm ci`), `redis-server`,
 * and on Linux x64 the SwiftShader software GPU with its Vulkan loader. Silent and fast when nothing is missing.
 *
 * Exit status: 0 ready; 2 this Node is too old; 5 something is missing that only the owner of the machine can add. The last
 * line on stderr then says what, why and the next command.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installNodeModules } from './setup/node-modules.mjs';
import { installRedis } from './setup/redis.mjs';
import { SetupError } from './setup/setup-error.mjs';
import { unpackSwiftShader } from './setup/swiftshader.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const say = (line) => process.stderr.write(`setup: ${line}\n`);

try {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new SetupError(
      `Node ${process.versions.node} is too old: fleet needs 20.19 or newer. next: install a newer Node from https://nodejs.org/en/download`,
      2,
    );
  }
  installNodeModules(root, say);
  installRedis(say);
  unpackSwiftShader(root, say);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = error.exitCode;
}
