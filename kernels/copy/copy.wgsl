// out[row * outStride + i] = source[row * sourceStride + i] for i < width: words, so that every bit arrives as it was.
// One lane a word; what lies between the rows of out stays.

struct Params {
  rows: u32,
  width: u32,
  sourceStride: u32,
  outStride: u32,
}

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn copy_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let index = linear_group(group, grid) * 64u + lane;
  let row = index / params.width;
  let i = index % params.width;
  if (row >= params.rows) {
    return;
  }
  out[row * params.outStride + i] = source[row * params.sourceStride + i];
}
