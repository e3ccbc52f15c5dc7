/** Dependencies: `npm ci`, only when what is installed is not what package-lock.json says. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SetupError } from './setup-error.mjs';

/** Written after an install by this script: which lock file, and for which Node ABI the native modules were built. */
const STAMP = 'node_modules/.fleet-setup.json';

/**
 * @param {string} root the repository
 * @param {(line: string) => void} say
 * @throws SetupError when npm is missing or fails
 */
export function installNodeModules(root, say) {
  const lockText = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
  const wanted = { lock: createHash('sha256').update(lockText).digest('hex'), abi: process.versions.modules };
  const why = staleness(root, lockText, wanted);
  if (why === null) return;

  say(`npm ci (${why})`);
  // npm's own path where npm started us, so that the npm in use installs. All of its output is progress, so it goes to stderr.
  const npmCli = process.env['npm_execpath'] ?? '';
  const [command, ...first] = /npm-cli\.[cm]?js$/.test(npmCli) ? [process.execPath, npmCli] : ['npm'];
  const done = spawnSync(command, [...first, 'ci', '--include=dev', '--no-json', '--no-audit', '--no-fund', '--loglevel=notice'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (done.error)
    throw new SetupError(`npm could not be started (${done.error.message}), and the dependencies are not installed. next: install npm, then run this again`);
  if (done.status !== 0) throw new SetupError(`npm ci failed (${done.signal ?? `exit ${done.status}`}), its reason is above. next: (cd ${root} && npm ci)`);
  // Only an install of our own is stamped: a tree that somebody else made is compared each time instead.
  if (existsSync(path.join(root, 'node_modules'))) writeFileSync(path.join(root, STAMP), `${JSON.stringify(wanted)}\n`);
}

/** Why an install is due, or null. */
function staleness(root, lockText, wanted) {
  const stamp = readJson(path.join(root, STAMP));
  if (stamp?.lock === wanted.lock && stamp.abi === wanted.abi) return null;
  if (stamp && stamp.abi !== wanted.abi) return `native modules were built for another Node, ABI ${stamp.abi}, and this one is ${wanted.abi}`;
  const packages = Object.entries(JSON.parse(lockText).packages ?? {}).filter(([where]) => where !== '');
  const hidden = readJson(path.join(root, 'node_modules/.package-lock.json'));
  if (!hidden) return packages.length === 0 ? null : 'node_modules is not there';
  for (const [where, entry] of packages) {
    const installed = hidden.packages?.[where];
    // npm leaves out what this platform cannot use, and marks it optional in the lock file.
    if (!installed && (entry.optional || entry.devOptional || entry.peer)) continue;
    if (!installed) return `${where} is not installed`;
    if (installed.version !== entry.version || installed.integrity !== entry.integrity) return `${where} is not what package-lock.json says`;
  }
  return null;
}

/** The parsed file, or null where it is missing or no JSON. */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
