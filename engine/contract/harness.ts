/**
 * What a kernel's contract stands on besides its own three files: the gates, and the bounds and fills that kernels share. A head
 * that loosens those loosens every contract without touching one, so they are hashed too.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);
/** Of the engine only the gates: how a launch reaches the device may change, as the shader may. */
const INSIDE = /^(?:kernels|engine\/contract)\//;
/** `kernels/NAME/NAME.ts`: the host side of a kernel is what is judged, not what judges. */
const WRAPPER = /^kernels\/([^/]+)\/\1\.ts$/;
/** Known findings show in each kernel's status, with their reason. */
const EXPECTATIONS = 'kernels/expectations.ts';
/** Imports that load code; those of types alone change nothing. */
const IMPORT = /^(?:import|export)\s(?!type\b)[^;]*?\bfrom '(\.[^']+)'/gm;

/** Paths, from the repository's root, of the code that judges a kernel, without its own contract, reference and control. */
export function harnessFiles(own: Readonly<Record<'contract' | 'reference' | 'control', URL>>): readonly string[] {
  const mine = [own.contract, own.reference, own.control].map(pathOf);
  const reached = new Set([...mine, pathOf(new URL('run.ts', import.meta.url))]);
  for (const path of reached) {
    for (const [, target] of readFileSync(new URL(path, ROOT), 'utf8').matchAll(IMPORT)) {
      const found = pathOf(new URL(target!, new URL(path, ROOT)));
      if (INSIDE.test(found) && !WRAPPER.test(found) && found !== EXPECTATIONS) reached.add(found);
    }
  }
  return [...reached].filter((path) => !mine.includes(path)).toSorted();
}

/** SHA-256 over the paths and contents of `harnessFiles`. */
export function harnessHash(own: Readonly<Record<'contract' | 'reference' | 'control', URL>>): string {
  const hash = createHash('sha256');
  for (const path of harnessFiles(own))
    hash
      .update(`${path}\0`)
      .update(readFileSync(new URL(path, ROOT)))
      .update('\0');
  return hash.digest('hex');
}

function pathOf(url: URL): string {
  return decodeURIComponent(url.href.slice(ROOT.href.length));
}
