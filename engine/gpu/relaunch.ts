/**
 * Opening an adapter that the present environment does not have. The Vulkan loader reads its environment once, so the
 * engine starts itself once more with VK_DRIVER_FILES set, and passes that process's exit status on.
 */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { EngineRefused } from '../errors.ts';
import { nodeArguments } from '../node-process.ts';
import { EXIT } from '../protocol.ts';
import { openGpu, type Gpu, type OpenOptions } from './device.ts';
import { discoverAdapters } from './discover.ts';
import { driverEnvironments, unpackedSoftwareDriver, type DriverEnvironment } from './driver-files.ts';

/** Set in the second process, so that it never starts a third. */
const MARK = 'FLEET_ENGINE_RELAUNCHED';

/** The command ran in a second process, which ended with this status. */
export class Relaunched extends Error {
  override readonly name = 'Relaunched';
  readonly status: number;
  constructor(status: number, cause: unknown) {
    super(`the command ran in a second process (status ${status})`, { cause });
    this.status = status;
  }
}

/**
 * Opens the adapter here or, when it only opens under another driver file, runs the whole command in a second process.
 * @throws Relaunched once the second process ended; EngineRefused when the adapter opens nowhere.
 */
export async function openGpuAnywhere(options: OpenOptions): Promise<Gpu> {
  try {
    return await openGpu(options);
  } catch (error) {
    if (!(error instanceof EngineRefused) || process.platform !== 'linux' || process.env[MARK]) throw error;
    const environment = await elsewhere(options);
    if (!environment) throw error;
    throw new Relaunched(await relaunch(environment), error);
  }
}

/** The environment to use instead: of the named adapter, else the unpacked software driver where software is allowed. */
async function elsewhere({ adapter, allowSoftware }: OpenOptions): Promise<DriverEnvironment | undefined> {
  if (adapter === undefined) return allowSoftware ? (unpackedSoftwareDriver() ?? (await find(''))) : undefined;
  // Software is looked at even when it is not allowed: the second process then says so, which is the better refusal.
  return find(adapter.toLowerCase());
}

async function find(wanted: string): Promise<DriverEnvironment | undefined> {
  const found = await discoverAdapters(true, driverEnvironments().slice(1));
  return found.find(({ record }) => record.name.toLowerCase().includes(wanted))?.environment;
}

function relaunch(environment: DriverEnvironment): Promise<number> {
  const env = { XDG_RUNTIME_DIR: tmpdir(), ...process.env, ...environment.env, [MARK]: '1' };
  const child = spawn(process.execPath, [...nodeArguments(), ...process.argv.slice(1)], { env, stdio: 'inherit' });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, forward);
  return new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`engine: the second process did not start: ${error.message}. next: set VK_DRIVER_FILES yourself\n`);
      resolve(EXIT.broken);
    });
    child.once('exit', (code, signal) => {
      if (signal) process.stderr.write(`engine: the process died of ${signal}. next: run it again; if it repeats, the driver is at fault\n`);
      resolve(code ?? EXIT.broken);
    });
  });
}
