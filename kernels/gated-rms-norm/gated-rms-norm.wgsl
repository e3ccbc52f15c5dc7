// One workgroup normalises and gates one row.
// Reduction: lane t sums squares of elements t, t+64, … in rising order (ceil(n/64) additions), then a workgroup tree of
// 6 levels adds lane pairs 32, 16, 8, 4, 2, 1 apart. Depth: ceil(n/64) + 6.
struct Params {
  rows: u32,
  n: u32,
  heads: u32,
  zStride: u32,
  zOffset: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> z: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

const LANES = 64u;
var<workgroup> sums: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.x;
  let base = row * params.n;
  let zBase = row / params.heads * params.zStride + params.zOffset + row % params.heads * params.n;

  var sum = 0.0;
  for (var i = lane; i < params.n; i += LANES) {
    let value = x[base + i];
    sum = fma(value, value, sum);
  }
  sums[lane] = sum;
  workgroupBarrier();
  for (var apart = LANES / 2u; apart > 0u; apart /= 2u) {
    if (lane < apart) {
      sums[lane] += sums[lane + apart];
    }
    workgroupBarrier();
  }

  let factor = inverseSqrt(sums[0] / f32(params.n) + params.eps);
  for (var i = lane; i < params.n; i += LANES) {
    let gate = z[zBase + i];
    out[base + i] = x[base + i] * factor * weight[i] * (gate * sigmoid(gate));
  }
}
