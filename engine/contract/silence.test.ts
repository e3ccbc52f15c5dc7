import { expect, test } from 'vitest';
import { silence } from './silence.ts';

const SOURCE = `fn helper(a: u32) -> u32 { return a; }
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  out[lane] = helper(group.x);
}
fn main_vec4() {}
`;

test('only the named entry point returns at once', () => {
  expect(silence(SOURCE, { kernel: 'k', entryPoint: 'main' })).toBe(SOURCE.replace('lane: u32) {', 'lane: u32) { if (true) { return; }'));
  expect(silence(SOURCE, { kernel: 'k', entryPoint: 'main_vec4' }, 'TILE == 8')).toContain('fn main_vec4() { if (TILE == 8) { return; }}');
});

test('an entry point that is not there is refused by name', () => {
  expect(() => silence(SOURCE, { kernel: 'k', entryPoint: 'mai' })).toThrow('k: the shader has no function mai');
});
