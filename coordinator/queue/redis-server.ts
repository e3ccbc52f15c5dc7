/**
 * The coordinator's own redis-server: loopback, random port, password, append-only file, in the state directory.
 * Port and password are kept there too, so that agents find it again after either process was restarted.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Log } from '../events.ts';

export interface RedisServer {
  readonly url: string;
  /** Of the running redis-server. */
  pid(): number | undefined;
  /** Saves and ends it. */
  stop(): Promise<void>;
}

interface Place {
  port: number;
  password: string;
}

const START_DEADLINE_MS = 20_000;
const RESTART_DELAY_MS = 250;

/**
 * Starts it, and starts it again whenever it ends unasked.
 * @throws Error with the commands that install it when redis-server is absent.
 */
export async function startRedisServer(directory: string, log: Log): Promise<RedisServer> {
  requireRedisServer();
  let place = readPlace(join(directory, 'server.json'));
  if (place !== null) await endLeftover(place);
  if (place === null || !(await portIsFree(place.port))) {
    place = { port: await freePort(), password: randomBytes(32).toString('hex') };
    writeFileSync(join(directory, 'server.json'), JSON.stringify(place), { mode: 0o600 });
  }
  const { port, password } = place;
  const url = `redis://:${password}@127.0.0.1:${port}`;
  let child: ChildProcess;
  let stopping = false;

  const start = async (): Promise<void> => {
    child = launch(directory, port, password);
    const started = child;
    started.once('error', (error) => log.event('redis.unreachable', {}, error));
    started.once('exit', (code, signal) => {
      if (stopping) return;
      log.event('redis.exited', { code, signal });
      setTimeout(() => {
        if (!stopping) start().catch((error: unknown) => log.event('redis.unreachable', {}, error));
      }, RESTART_DELAY_MS);
    });
    await answers(url, () => started.exitCode !== null || started.signalCode !== null);
    log.event('redis.started', { redisPid: started.pid ?? null, port });
  };
  try {
    await start();
  } catch (error) {
    stopping = true;
    child!.kill('SIGKILL');
    throw error;
  }
  return {
    url,
    pid: () => child.pid,
    async stop() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** redis-server reads its configuration from stdin, so that the password shows in no process list. */
function launch(directory: string, port: number, password: string): ChildProcess {
  const configuration = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(directory)}`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
    'hash-max-listpack-value 2048',
    'daemonize no',
    'loglevel warning',
    '',
  ].join('\n');
  // When the coordinator is killed, its Redis must not stay behind: nothing could be claimed from it.
  const tied = process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0;
  const [command, args] = tied ? ['setpriv', ['--pdeathsig', 'TERM', 'redis-server', '-']] : ['redis-server', ['-']];
  // Its own process group: a Ctrl-C at the terminal is for the coordinator, which then ends it in order.
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'], cwd: directory, detached: true });
  child.stdin.on('error', () => {});
  child.stdin.end(configuration);
  return child;
}

function requireRedisServer(): void {
  const found = spawnSync('redis-server', ['--version']);
  if (found.error === undefined && found.status === 0) return;
  throw new Error(
    'redis-server is not installed, and fleet carries its queues in Redis 6.2 or later. next: apt-get install redis-server, or dnf install redis, or brew install redis; or set REDIS_URL',
  );
}

function readPlace(file: string): Place | null {
  if (!existsSync(file)) return null;
  try {
    const { port, password } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Place>;
    return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
  } catch {
    return null;
  }
}

/** A redis-server that outlived its coordinator holds the same append-only file; two must never write it. */
async function endLeftover({ port, password }: Place): Promise<void> {
  const client = new Redis({ host: '127.0.0.1', port, password, lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.shutdown();
  } catch {
    // Nobody there, or it closed the connection by ending.
  } finally {
    client.disconnect();
  }
  for (let tries = 0; tries < 50 && !(await portIsFree(port)); tries++) await new Promise((resolve) => setTimeout(resolve, 100));
}

async function answers(url: string, ended: () => boolean): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.ping();
      return;
    } catch (cause) {
      if (ended()) throw new Error('redis-server ended at once. next: run redis-server in the state directory’s redis folder to see why', { cause });
      if (Date.now() > deadline) throw new Error(`redis-server did not answer within ${START_DEADLINE_MS / 1000} s`, { cause });
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      client.disconnect();
    }
  }
}

async function portIsFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
