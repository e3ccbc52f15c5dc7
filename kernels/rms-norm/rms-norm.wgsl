// out[row, i] = x[row, i] / sqrt(mean over i of x[row, i]^2 + eps) * weight[i]
//
// One workgroup a row: lane l adds the squares of elements 4l … 4l + 3, 4(l + 256) …, in order; sixteen lanes add sixteen neighbouring
// sums each, in rising order; every lane adds the sixteen. The longest path is 4·ceil(n / 1024) + 15 + 15 additions.

struct Params {
  rows: u32,
  n: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const LANES = 256u;

var<workgroup> squares: array<f32, LANES>;
var<workgroup> branches: array<f32, 16>;

@compute @workgroup_size(256)
fn rms_norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = linear_group(group, grid);
  if (row >= params.rows) {
    return;
  }
  let start = row * params.n;
  var sum = 0.0;
  for (var first = lane * 4u; first < params.n; first += LANES * 4u) {
    for (var i = first; i < min(first + 4u, params.n); i++) {
      let value = x[start + i];
      sum = fma(value, value, sum);
    }
  }
  squares[lane] = sum;
  workgroupBarrier();
  if (lane < 16u) {
    var branch = squares[lane * 16u];
    for (var i = 1u; i < 16u; i++) {
      branch += squares[lane * 16u + i];
    }
    branches[lane] = branch;
  }
  workgroupBarrier();
  var whole = branches[0];
  for (var i = 1u; i < 16u; i++) {
    whole += branches[i];
  }
  let scale = inverseSqrt(whole / f32(params.n) + params.eps);
  for (var i = lane; i < params.n; i += LANES) {
    out[start + i] = x[start + i] * scale * weight[i];
  }
}
