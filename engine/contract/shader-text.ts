import { WgslReflect, type FunctionInfo, type VariableInfo } from 'wgsl_reflect/wgsl_reflect.module.js';
import type { Kernel, Launch } from '../../kernels/contract.ts';
import { ShaderInvalid } from '../errors.ts';

/**
 * Where a shader's text and its host side disagree: entry point, workgroup size, bindings, uniform block, workgroup memory.
 * Empty when they agree.
 * @param text the whole WGSL, includes first.
 * @throws ShaderInvalid when it cannot be read as WGSL.
 */
export function shaderFault(kernel: Kernel, launch: Launch, text: string): string {
  const reflect = parse(kernel, text);
  const entry = reflect.entry.compute.find(({ name }) => name === launch.entryPoint);
  if (!entry) return `the shader has no entry point ${launch.entryPoint}`;
  return sizeFault(entry, launch) || bindingsFault(reflect, kernel) || paramsFault(reflect, kernel, launch) || memoryFault(reflect, text, launch);
}

function parse(kernel: Kernel, text: string): WgslReflect {
  try {
    return new WgslReflect(readable(text));
  } catch (cause) {
    throw new ShaderInvalid(`${kernel.name}.wgsl does not compile: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/**
 * The text as wgsl_reflect 1.6 reads it, which knows no subgroup matrices: a matrix of results reads as a float, and calls that load,
 * multiply and store lose their template. Only types of variables inside functions change, which nothing here looks at.
 */
function readable(text: string): string {
  return text.replaceAll(/subgroup_matrix_result<[^>]*>/g, 'f32').replaceAll(/(subgroupMatrix\w+)<(?:[^<>]|<[^<>]*>)*>\(/g, '$1(');
}

function sizeFault(entry: FunctionInfo, launch: Launch): string {
  const found = entry.attributes?.find(({ name }) => name === 'workgroup_size')?.value;
  const list = (Array.isArray(found) ? found : [found]).map(Number);
  const declared = [0, 1, 2].map((axis) => list[axis] ?? 1);
  const named = declared.some(Number.isNaN);
  // A size named by an override or a constant is the pipeline's business; numbers must agree.
  if (named || declared.every((size, axis) => size === launch.workgroupSize[axis])) return '';
  return `${launch.entryPoint} has workgroup_size(${declared.join(', ')}), the host counts on ${launch.workgroupSize.join(' × ')}`;
}

function bindingsFault(reflect: WgslReflect, kernel: Kernel): string {
  for (const [index, spec] of kernel.bindings.entries()) {
    const here = reflect.storage.filter(({ group, binding }) => group === 0 && binding === index);
    const named = here.find(({ name }) => name === spec.name);
    if (!named) return `binding ${index} is ${here.map(({ name }) => name).join(', ') || 'missing'} in the shader and ${spec.name} on the host`;
    for (const variable of here) {
      const access = accessOf(variable);
      if (access !== spec.access) return `binding ${index} (${variable.name}) is ${access} in the shader and ${spec.access} on the host`;
    }
    const type = named.format?.name ?? '';
    if (!type.endsWith(spec.type)) return `binding ${index} (${spec.name}) holds ${type} in the shader and ${spec.type} on the host`;
  }
  const beyond = reflect.storage.find(({ binding }) => binding >= kernel.bindings.length);
  return beyond ? `the shader has a storage binding ${beyond.binding} (${beyond.name}) that the host does not know` : '';
}

function accessOf(variable: VariableInfo): string {
  return variable.access === '' ? 'read' : variable.access;
}

function paramsFault(reflect: WgslReflect, kernel: Kernel, launch: Launch): string {
  const uniform = reflect.uniforms[0];
  if (launch.params.length === 0) return uniform ? `the shader has a uniform block, the launch has none` : '';
  if (!uniform) return `the launch has a uniform block, the shader has none`;
  if (uniform.binding !== kernel.bindings.length) return `the uniform block is binding ${uniform.binding}, not ${kernel.bindings.length}`;
  const found = (uniform.members ?? []).map(({ name, type, offset }) => `${name}: ${type.name} at ${offset}`).join(', ');
  const declared = kernel.params.map(({ name, type }, index) => `${name}: ${type} at ${index * 4}`).join(', ');
  if (found !== declared) return `the uniform block is (${found}) in the shader and (${declared}) on the host`;
  return launch.params.length === kernel.params.length ? '' : `the launch gives ${launch.params.length} words for ${kernel.params.length} fields`;
}

const WORD_BYTES: Readonly<Record<string, number>> = {
  f32: 4,
  u32: 4,
  i32: 4,
  vec2f: 8,
  vec4f: 16,
  'vec2<f32>': 8,
  'vec4<f32>': 16,
  'vec2<u32>': 8,
  'vec4<u32>': 16,
};

/** Arrays of var<workgroup>, in bytes; undefined where a type or length is beyond this reader. */
function workgroupBytes(text: string): number | undefined {
  let bytes = 0;
  for (const [, type, length] of text.matchAll(/var<workgroup>\s+\w+\s*:\s*array<\s*([\w<>]+)\s*,\s*(\w+)\s*>/g)) {
    const literal = Number.parseInt(length!, 10);
    const count = Number.isNaN(literal)
      ? Number.parseInt(new RegExp(`const\\s+${length}\\s*(?::\\s*u32\\s*)?=\\s*(\\d+)u?\\s*;`).exec(text)?.[1] ?? '', 10)
      : literal;
    const each = WORD_BYTES[type!];
    if (each === undefined || Number.isNaN(count)) return undefined;
    bytes += each * count;
  }
  return bytes;
}

function memoryFault(reflect: WgslReflect, text: string, launch: Launch): string {
  const declared = workgroupBytes(text);
  if (declared === undefined) return '';
  // Where a module has several entry points, one may use a part of what the module declares.
  const agrees = reflect.entry.compute.length > 1 ? launch.workgroupBytes <= declared : launch.workgroupBytes === declared;
  return agrees ? '' : `the shader declares ${declared} bytes of workgroup memory, the host counts on ${launch.workgroupBytes}`;
}
