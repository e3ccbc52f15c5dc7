// Word i of the buffer becomes i, whose sum has a closed form.
@group(0) @binding(0) var<storage, read_write> data: array<vec4<u32>>;

@compute @workgroup_size(256)
fn fill_index(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let at = id.y * groups.x * 256u + id.x;
  if (at < arrayLength(&data)) {
    data[at] = vec4<u32>(4u * at) + vec4<u32>(0u, 1u, 2u, 3u);
  }
}
