// out[row, i] = table[ids[row], i]; an id >= entries gives a row of +0. Words, so that every bit arrives as it was.
// One lane a word.

struct Params {
  rows: u32,
  width: u32,
  entries: u32,
}

@group(0) @binding(0) var<storage, read> ids: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let index = linear_group(group, grid) * 64u + lane;
  let row = index / params.width;
  if (row >= params.rows) {
    return;
  }
  let id = ids[row];
  var word = 0u;
  if (id < params.entries) {
    word = table[id * params.width + index % params.width];
  }
  out[index] = word;
}
