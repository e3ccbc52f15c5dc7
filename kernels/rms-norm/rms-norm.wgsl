// out[row, i] = x[row, i] / sqrt(mean over i of x[row, i]^2 + eps) * weight[i]
//
// One workgroup a row: lane l adds the squares l, l + 128, ... in order, then a tree of seven levels adds the lanes, so the
// longest path is ceil(n / 128) + 7 additions.

struct Params {
  rows: u32,
  n: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const LANES = 128u;

var<workgroup> partial: array<f32, LANES>;

@compute @workgroup_size(128)
fn rms_norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = linear_group(group, grid);
  if (row >= params.rows) {
    return;
  }
  let start = row * params.n;
  var squares = 0.0;
  for (var i = lane; i < params.n; i += LANES) {
    let value = x[start + i];
    squares = fma(value, value, squares);
  }
  partial[lane] = squares;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      partial[lane] += partial[lane + half];
    }
    workgroupBarrier();
  }
  let scale = inverseSqrt(partial[0] / f32(params.n) + params.eps);
  for (var i = lane; i < params.n; i += LANES) {
    out[start + i] = x[start + i] * scale * weight[i];
  }
}
