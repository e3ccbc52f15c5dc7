/** `redis-server`: installed through apt where that is allowed, else the exact commands are named. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { SetupError } from './setup-error.mjs';

const BY_HAND =
  'sudo apt-get update && sudo apt-get install -y redis-server  |  sudo dnf install -y redis  |  brew install redis  (or set REDIS_URL to a running Redis of 6.2 or newer)';

/**
 * @param {(line: string) => void} say
 * @throws SetupError when redis-server is absent and this account may not install it
 */
export function installRedis(say) {
  if (process.env['REDIS_URL'] || onPath('redis-server')) return;
  const apt = onPath('apt-get');
  const prefix = asRoot();
  if (!apt) throw new SetupError(`redis-server is not installed, and there is no apt-get here to install it with. next: ${BY_HAND}`);
  if (!prefix) throw new SetupError(`redis-server is not installed, and this account may not install it (not root, no passwordless sudo). next: ${BY_HAND}`);

  const install = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-q', '--no-install-recommends', 'redis-server'];
  say(`${[...prefix, ...install].join(' ')} (redis-server is not installed)`);
  // A fresh machine or container has no package lists yet; refresh them only if the first try fails.
  const done = run([...prefix, ...install]) || (run([...prefix, 'apt-get', 'update', '-q']) && run([...prefix, ...install]));
  if (!done || !onPath('redis-server')) throw new SetupError(`apt-get could not install redis-server, its reason is above. next: ${BY_HAND}`);
}

/** The words that make a command run as root, or null where this account cannot. */
function asRoot() {
  if (process.getuid?.() === 0) return [];
  return onPath('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : null;
}

function run([command, ...args]) {
  return spawnSync(command, args, { stdio: ['ignore', 2, 2] }).status === 0;
}

function onPath(name) {
  return (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => {
    const file = path.join(folder || '.', name);
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}
