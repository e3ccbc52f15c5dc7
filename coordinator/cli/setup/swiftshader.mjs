/**
 * SwiftShader and a Vulkan loader, unpacked from @sparticuz/chromium: the software GPU of a machine that has none, without
 * root. They go to `${FLEET_DRIVERS:-${XDG_CACHE_HOME:-~/.cache}/fleet/drivers}/swiftshader/`, where the engine looks for them.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { SetupError } from './setup-error.mjs';

const FILES = ['libvk_swiftshader.so', 'libvulkan.so.1', 'vk_swiftshader_icd.json'];
/** Names the package version that the folder was unpacked from; a folder without it is not ours and is left alone. */
const STAMP = '.unpacked-by-fleet';

/**
 * @param {string} root the repository, whose node_modules hold the archive
 * @param {(line: string) => void} say
 * @throws SetupError when the archive lacks a file
 */
export function unpackSwiftShader(root, say) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return;
  const source = path.join(root, 'node_modules/@sparticuz/chromium');
  if (!existsSync(source)) return; // Installed without development packages: the host's own drivers are what there is.
  const { version } = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8'));
  const stampText = `@sparticuz/chromium ${version}\n`;

  const drivers = process.env['FLEET_DRIVERS'] || path.join(process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache'), 'fleet/drivers');
  const target = path.join(drivers, 'swiftshader');
  const complete = () => FILES.every((name) => existsSync(path.join(target, name)));
  const stamp = existsSync(path.join(target, STAMP)) ? readFileSync(path.join(target, STAMP), 'utf8') : null;
  if (existsSync(target) && stamp === null) {
    if (complete()) return;
    throw new SetupError(
      `${target} is there, but fleet did not make it and it lacks ${FILES.join(', ')}. next: move it away, or set FLEET_DRIVERS to another folder`,
    );
  }
  if (stamp === stampText && complete()) return;

  say(`unpacking SwiftShader to ${target}`);
  const files = readTar(brotliDecompressSync(readFileSync(path.join(source, 'bin/swiftshader.tar.br'))));
  const partial = `${target}.partial-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  try {
    for (const name of FILES) {
      const bytes = files.get(name);
      if (!bytes) throw new SetupError(`@sparticuz/chromium ${version} holds no ${name}: its layout changed. next: npm ci, which installs the pinned version`);
      writeFileSync(path.join(partial, name), bytes, { mode: name.endsWith('.json') ? 0o644 : 0o755 });
    }
    writeFileSync(path.join(partial, STAMP), stampText);
    if (stamp !== null) rmSync(target, { recursive: true, force: true });
    renameSync(partial, target);
  } catch (error) {
    // Two set-ups at once: the other's folder is in place, and is as good as ours.
    const other = error.code === 'ENOTEMPTY' || error.code === 'EEXIST';
    if (!(other && complete())) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/**
 * Regular files of a ustar archive by name. Enough for the pinned archive: names of up to 100 bytes, no links, no extensions.
 * @param {Buffer} tar
 */
function readTar(tar) {
  const files = new Map();
  const text = (from, length) => tar.toString('latin1', from, from + length).split('\0', 1)[0];
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const type = text(at + 156, 1);
    if (type === '0' || type === '') files.set(text(at, 100).replace(/^\.\//, ''), tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
