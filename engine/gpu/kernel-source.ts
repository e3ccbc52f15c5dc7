/** WGSL of a kernel: its includes from kernels/shared/, then NAME.wgsl. */
import { readFileSync } from 'node:fs';
import type { Kernel } from '../../kernels/contract.ts';

const KERNELS = new URL('../../kernels/', import.meta.url);

interface Part {
  readonly file: string;
  readonly text: string;
}

/**
 * The parts of a kernel's source in order. `edited` replaces the text of NAME.wgsl (planted faults), not of its includes.
 * @throws Error when a file is missing.
 */
function parts(kernel: Kernel, edited?: string): Part[] {
  const read = (file: string): Part => ({ file: `kernels/${file}`, text: readFileSync(new URL(file, KERNELS), 'utf8') });
  const own = `${kernel.name}/${kernel.name}.wgsl`;
  const shared = kernel.includes.map((name) => read(`shared/${name}.wgsl`));
  return [...shared, edited === undefined ? read(own) : { file: `kernels/${own} (edited)`, text: edited }];
}

/** A kernel's whole WGSL, and where a line of it came from. */
export interface KernelSource {
  readonly text: string;
  /** `FILE:LINE` of a 1-based line of `text`. */
  locate(line: number): string;
}

export function kernelSource(kernel: Kernel, edited?: string): KernelSource {
  const found = parts(kernel, edited);
  return {
    text: found.map((part) => part.text).join('\n'),
    locate(line) {
      let left = line;
      for (const part of found) {
        const lines = part.text.split('\n').length;
        if (left <= lines) return `${part.file}:${left}`;
        left -= lines;
      }
      return `${kernel.name}:${line}`;
    },
  };
}
