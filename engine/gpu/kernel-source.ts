/** WGSL of a kernel: the directives of what it needs, its includes from kernels/shared/, then NAME.wgsl. */
import { readFileSync } from 'node:fs';
import type { Kernel } from '../../kernels/contract.ts';
import { shaderFiles } from '../../kernels/plant.ts';
import { NEEDS } from './needs.ts';

const KERNELS = new URL('../../kernels/', import.meta.url);

/** Texts in place of files of kernels/, by their paths from there: `NAME/NAME.wgsl`, `shared/NAME.wgsl` (planted faults). */
export type Edits = Readonly<Record<string, string>>;

interface Part {
  readonly file: string;
  readonly text: string;
}

/** The text of one shader file as shipped. @throws Error when it is missing. */
export function shippedShader(file: string): string {
  return readFileSync(new URL(file, KERNELS), 'utf8');
}

/** The parts of a kernel's source in order. @throws Error when a file is missing. */
function parts(kernel: Kernel, edits: Edits): Part[] {
  const files = shaderFiles(kernel).map((file) => {
    const text = edits[file];
    return text === undefined ? { file: `kernels/${file}`, text: shippedShader(file) } : { file: `kernels/${file} (edited)`, text };
  });
  // Directives stand before everything else in a module, includes too.
  return kernel.needs === undefined ? files : [{ file: `directives of ${kernel.needs}`, text: NEEDS[kernel.needs].wgsl.join('\n') }, ...files];
}

/** A kernel's whole WGSL, and where a line of it came from. */
export interface KernelSource {
  readonly text: string;
  /** `FILE:LINE` of a 1-based line of `text`. */
  locate(line: number): string;
}

export function kernelSource(kernel: Kernel, edits: Edits = {}): KernelSource {
  const found = parts(kernel, edits);
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
