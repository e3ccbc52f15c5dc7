import type { Control } from './contract.ts';

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
