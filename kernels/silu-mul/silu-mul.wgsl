// out[row, i] = silu(gate[row, i]) * up[row, i] with silu(g) = g * sigmoid(g). A workgroup takes 256 elements of one row, a lane four of
// them, 64 apart.
//
// The exponent is never positive, so that exp cannot overflow: WGSL lets a driver assume that nothing does.

struct Params {
  rows: u32,
  n: u32,
  stride: u32,
  upOffset: u32,
}

@group(0) @binding(0) var<storage, read> gate: array<f32>;
@group(0) @binding(1) var<storage, read> up: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const BLOCK = 256u;
const LANES = 64u;

@compute @workgroup_size(64)
fn silu_mul(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let blocks = (params.n + BLOCK - 1u) / BLOCK;
  let linear = linear_group(group, grid);
  let row = linear / blocks;
  if (row >= params.rows) {
    return;
  }
  let first = linear % blocks * BLOCK + lane;
  for (var i = first; i < min(first + BLOCK - lane, params.n); i += LANES) {
    let g = gate[row * params.stride + i];
    let e = exp(-abs(g));
    let sigmoid = select(e, 1.0, g >= 0.0) / (1.0 + e);
    out[row * params.n + i] = g * sigmoid * up[row * params.stride + params.upOffset + i];
  }
}
