// out[i] = a[i] + b[i]. A workgroup takes 256 elements, a lane four of them, 64 apart.

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn residual_add(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = linear_group(group, grid) * 256u;
  for (var i = first + lane; i < min(first + 256u, params.count); i += 64u) {
    out[i] = a[i] + b[i];
  }
}
