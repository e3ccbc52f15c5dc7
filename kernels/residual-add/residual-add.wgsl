// out[i] = a[i] + b[i]

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn residual_add(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = linear_group(group, grid) * 64u + lane;
  if (i >= params.count) {
    return;
  }
  out[i] = a[i] + b[i];
}
