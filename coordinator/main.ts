/** `node --import tsx coordinator/main.ts [--state DIR] [--port N]`: reads arguments, starts, waits for a signal. */
import { parseArgs } from 'node:util';
import { openLog } from './events.ts';
import { DEFAULT_PORT } from './protocol/api.ts';
import { FLEET_EXIT } from './protocol/errors.ts';
import { startCoordinator } from './start.ts';
import { defaultStateDirectory } from './state-directory.ts';

function fail(status: number, message: string): never {
  process.stderr.write(`fleet coordinator: ${message}\n`);
  process.exit(status);
}

function readArguments(): { state: string; port: number } {
  try {
    const { values } = parseArgs({ options: { state: { type: 'string' }, port: { type: 'string' } } });
    const port = values.port === undefined ? DEFAULT_PORT : Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port ${values.port} is no port (0 to 65535)`);
    return { state: values.state ?? defaultStateDirectory(process.env), port };
  } catch (error) {
    fail(FLEET_EXIT.usage, `${(error as Error).message}. next: coordinator/main.ts [--state DIR] [--port N]`);
  }
}

const { state, port } = readArguments();
const log = openLog(process.env['FLEET_LOG_LEVEL'] ?? 'info');
let stopAsked: () => void = () => {};
const asked = new Promise<void>((resolve) => {
  stopAsked = resolve;
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stopAsked);

try {
  const coordinator = await startCoordinator({ state, port, redisUrl: process.env['REDIS_URL'] || undefined, log });
  process.stdout.write(`fleet coordinator: ${coordinator.url} (state ${coordinator.state})\n`);
  await asked;
  log.event('coordinator.stopping');
  await coordinator.stop();
} catch (error) {
  fail(FLEET_EXIT.infrastructure, error instanceof Error ? error.message : String(error));
}
process.exit(FLEET_EXIT.ok);
