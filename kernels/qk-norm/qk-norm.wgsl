// One workgroup normalises one head of one row.
// Reduction: lane t sums squares of elements t, t+64, … in rising order (ceil(headDim/64) additions), then a workgroup tree
// of 6 levels adds lane pairs 32, 16, 8, 4, 2, 1 apart. Depth: ceil(headDim/64) + 6.
struct Params {
  rows: u32,
  heads: u32,
  headDim: u32,
  rowStride: u32,
  headStride: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const LANES = 64u;
var<workgroup> sums: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = group.x;
  let row = group.y;
  let source = row * params.rowStride + head * params.headStride;
  let destination = (row * params.heads + head) * params.headDim;

  var sum = 0.0;
  for (var i = lane; i < params.headDim; i += LANES) {
    let value = x[source + i];
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

  let factor = inverseSqrt(sums[0] / f32(params.headDim) + params.eps);
  for (var i = lane; i < params.headDim; i += LANES) {
    out[destination + i] = x[source + i] * factor * weight[i];
  }
}
