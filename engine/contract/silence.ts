import type { Launch } from '../../kernels/contract.ts';

/**
 * The WGSL with a launch's entry point returning at once.
 * @param condition when given, it returns only where this WGSL condition holds.
 * @throws Error when the source has no such entry point.
 */
export function silence(source: string, launch: Pick<Launch, 'kernel' | 'entryPoint'>, condition?: string): string {
  const body = bodyStart(source, launch.entryPoint);
  if (body < 0) throw new Error(`${launch.kernel}: the shader has no function ${launch.entryPoint}`);
  // A condition that cannot be folded keeps the rest of the body reachable, which some compilers insist on.
  return `${source.slice(0, body)} if (${condition ?? 'true'}) { return; }${source.slice(body)}`;
}

/** Offset just after the `{` that opens a function's body; −1 where there is no such function. */
function bodyStart(source: string, name: string): number {
  const found = new RegExp(`\\bfn\\s+${name}\\s*\\(`).exec(source);
  if (!found) return -1;
  let depth = 1;
  let at = found.index + found[0].length;
  for (; at < source.length && depth > 0; at++) {
    if (source[at] === '(') depth++;
    if (source[at] === ')') depth--;
  }
  const open = source.indexOf('{', at);
  return open < 0 ? -1 : open + 1;
}
