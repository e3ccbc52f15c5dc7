/** Reads the machine's state between legs. What cannot be read is null. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg, release } from 'node:os';
import { promisify } from 'node:util';
import type { MachineState } from '../coordinator/protocol/machine.ts';
import type { AdapterRecord } from '../engine/protocol.ts';
import { readMesaVersion } from './mesa-version.ts';

const run = promisify(execFile);
/** nvidia-smi answers within a second; a driver that hangs must not hold the lock. */
const LIMIT_MS = 5000;
const FIELDS = 'name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw,power.limit,power.default_limit';
/** The field was renamed, and a name that the driver does not know fails the whole query. */
const THROTTLE = ['clocks_event_reasons.active', 'clocks_throttle_reasons.active'] as const;

type GpuPart = Pick<MachineState, 'gpu' | 'gpuClients'>;

/** What is asked of a device: the adapter that its agent serves. */
type Served = Pick<AdapterRecord, 'name' | 'evidence' | 'driver' | 'driverFiles' | 'libraryPath'>;

/** The state now. A software device has no GPU to ask. */
export async function readMachineState(adapter: Served): Promise<MachineState> {
  const memory = readText('/proc/meminfo');
  const kib = (name: string): number | null => numberOf(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(memory ?? '')?.[1]);
  const [swapTotal, swapFree] = [kib('SwapTotal'), kib('SwapFree')];
  return {
    kernel: release(),
    mesa: readMesaVersion(adapter),
    load: process.platform === 'win32' ? null : loadavg()[0]!,
    memAvailableKiB: kib('MemAvailable'),
    swapUsedKiB: swapTotal === null || swapFree === null ? null : swapTotal - swapFree,
    governor: governors(),
    ...(adapter.evidence === 'gpu' ? await readNvidia(adapter.name) : { gpu: null, gpuClients: null }),
  };
}

async function readNvidia(adapter: string): Promise<GpuPart> {
  let gpus: string | null = null;
  for (const throttle of [...THROTTLE.map((name) => `,${name}`), '']) gpus ??= await ask(`--query-gpu=${FIELDS}${throttle}`);
  if (gpus === null) return { gpu: null, gpuClients: null };
  return parseNvidia(adapter, gpus, await ask('--query-compute-apps=pid,process_name'));
}

/**
 * @param gpus nvidia-smi's CSV of FIELDS, a line a GPU; `clients` of pid and process name, of all GPUs together.
 * @returns nulls unless exactly one GPU is there and it is the adapter: which of several it is, names do not tell.
 */
export function parseNvidia(adapter: string, gpus: string, clients: string | null): GpuPart {
  const rows = gpus.split('\n').filter((line) => line.trim() !== '');
  const [name, driver, sm, memory, temperature, power, cap, capDefault, throttle] = (rows[0] ?? '').split(',').map((cell) => cell.trim());
  const same = name !== undefined && name !== '' && adapter.toLowerCase().includes(name.toLowerCase());
  if (rows.length !== 1 || !same) return { gpu: null, gpuClients: null };
  return {
    gpu: {
      driver: wordOf(driver),
      smClockMhz: numberOf(sm),
      memoryClockMhz: numberOf(memory),
      temperatureC: numberOf(temperature),
      powerW: numberOf(power),
      powerCapW: numberOf(cap),
      powerCapDefaultW: numberOf(capDefault),
      throttle: wordOf(throttle),
    },
    gpuClients: clientsOf(clients),
  };
}

/** `PID NAME` of each; null where one line is not that, such as `[N/A]`: then nothing is known of any. */
function clientsOf(text: string | null): string[] | null {
  if (text === null) return null;
  const lines = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  return lines.every((line) => /^\d+,/.test(line)) ? lines.map((line) => line.replace(/,\s*/, ' ')) : null;
}

async function ask(query: string): Promise<string | null> {
  try {
    return (await run('nvidia-smi', [query, '--format=csv,noheader,nounits'], { timeout: LIMIT_MS })).stdout;
  } catch {
    return null;
  }
}

/** `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `[Insufficient Permissions]` and, from some versions, bare `N/A` or `ERR!` are no values. */
const wordOf = (text: string | undefined): string | null => (text === undefined || /^(\[.*|N\/A|ERR!)?$/.test(text) ? null : text);

function numberOf(text: string | undefined): number | null {
  const value = Number(wordOf(text) ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}

function governors(): string | null {
  const root = '/sys/devices/system/cpu';
  try {
    const found = readdirSync(root).flatMap((name) => (/^cpu\d+$/.test(name) ? (readText(`${root}/${name}/cpufreq/scaling_governor`)?.trim() ?? []) : []));
    return found.length === 0 ? null : [...new Set(found)].toSorted().join(',');
  } catch {
    return null;
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
