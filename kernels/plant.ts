import type { Control, Kernel } from './contract.ts';

/** A control that no longer fits its shader: its line is not there, or is there more than once. */
export class ControlDrifted extends Error {}

/**
 * The shader with a control's fault planted.
 * @throws ControlDrifted unless `find` is one line's text that occurs exactly once: the control has drifted from the shader.
 */
export function plant(file: string, source: string, control: Control): string {
  const found = source.split(control.find).length - 1;
  if (control.find === '' || control.find.includes('\n') || found !== 1) {
    throw new ControlDrifted(`control "${control.name}" must edit one line of ${file} that occurs exactly once; it occurs ${found} times: ${control.find}`);
  }
  if (control.find === control.replace) throw new ControlDrifted(`control "${control.name}" changes nothing in ${file}`);
  return source.replace(control.find, () => control.replace);
}

/** A kernel's own shader, as a path from kernels/ on. */
export function ownShader({ name }: Pick<Kernel, 'name'>): string {
  return `${name}/${name}.wgsl`;
}

/** Every file of a kernel's shader in the order of its text: the includes, then its own. */
export function shaderFiles(kernel: Pick<Kernel, 'name' | 'includes'>): readonly string[] {
  return [...kernel.includes.map((name) => `shared/${name}.wgsl`), ownShader(kernel)];
}

/** The file that a control edits. @throws ControlDrifted when the kernel does not include it. */
export function plantedFile(kernel: Pick<Kernel, 'name' | 'includes'>, control: Control): string {
  const file = control.file ?? ownShader(kernel);
  if (shaderFiles(kernel).includes(file)) return file;
  throw new ControlDrifted(
    `control "${control.name}" edits ${file}, which ${kernel.name} does not include; it includes ${kernel.includes.join(', ') || 'nothing'}`,
  );
}
