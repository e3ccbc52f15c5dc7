/** A coordinator and its agents for one demo, on a free port and a state directory of their own. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { deviceView } from '../../protocol/agent.ts';
import { FLEET_EXIT } from '../../protocol/errors.ts';
import { ApiClient, UnreachableError } from '../api-client.ts';
import { CliError } from '../cli-error.ts';
import { readServerFile } from '../config.ts';
import type { DemoDevice } from './adapters.ts';
import type { Children } from './children.ts';

/** Redis, migrations and the HTTP server start within a second or two; a loaded machine takes longer. */
const START_MS = 60_000;

/**
 * Starts the coordinator and waits until it is ready.
 * @throws CliError (exit 5) with what it said, when it ends or does not become ready.
 */
export async function startCoordinator(children: Children, state: string, signal: AbortSignal): Promise<ApiClient> {
  const pid = children.start('coordinator', 'coordinator', ['--state', state, '--port', '0']);
  return until(children, signal, 'the coordinator is not ready', async () => {
    const server = readServerFile(state);
    if (server === null || server.pid !== pid) return null;
    const client = new ApiClient({ url: { value: server.url, from: 'the demo' } });
    await client.text('/readyz');
    return client;
  });
}

/**
 * Starts one agent a device and waits until the coordinator hears of all of them.
 * @throws CliError (exit 5) when one ends or stays silent.
 */
export async function startAgents(children: Children, client: ApiClient, devices: readonly DemoDevice[], state: string, signal: AbortSignal): Promise<void> {
  for (const { device, adapter, evidence } of devices) {
    const software = evidence === 'software' ? ['--allow-software'] : [];
    const args = ['--url', client.url, '--device', device, '--adapter', adapter, '--state', path.join(state, 'agents', device), ...software];
    children.start(`agent-${device}`, 'agent', args);
  }
  await until(children, signal, `not every agent registered (${devices.map((entry) => entry.device).join(', ')})`, async () => {
    const live = new Set((await client.get('/api/devices', z.array(deviceView))).filter((entry) => entry.live).map((entry) => entry.device));
    return devices.every((entry) => live.has(entry.device)) ? true : null;
  });
}

async function until<T>(children: Children, signal: AbortSignal, problem: string, ask: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    signal.throwIfAborted();
    children.assertRunning();
    try {
      const answer = await ask();
      if (answer !== null) return answer;
    } catch (error) {
      // Not listening yet, or listening but not ready (503): ask again.
      const early = error instanceof UnreachableError || (error instanceof CliError && error.exitCode === FLEET_EXIT.infrastructure);
      if (!early) throw error;
    }
    if (Date.now() > deadline)
      throw new CliError(`${problem} after ${START_MS / 1000} s`, 'run the demo again with --state DIR and read DIR/logs', FLEET_EXIT.infrastructure);
    await sleep(100);
  }
}
