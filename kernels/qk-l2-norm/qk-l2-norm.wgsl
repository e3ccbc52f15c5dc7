// One workgroup normalises one query head or one key head of one row.
// Reduction: lane t sums squares of elements t, t+64, … in rising order (ceil(dk/64) additions), then a workgroup tree of
// 6 levels adds lane pairs 32, 16, 8, 4, 2, 1 apart. Depth: ceil(dk/64) + 6.
struct Params {
  rows: u32,
  kHeads: u32,
  dk: u32,
  rowStride: u32,
  scale: f32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> q: array<f32>;
@group(0) @binding(2) var<storage, read_write> k: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const LANES = 64u;
var<workgroup> sums: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.y;
  // Heads 0 … kHeads−1 are queries, the next kHeads are keys, as the columns of x lie.
  let source = row * params.rowStride + group.x * params.dk;

  var sum = 0.0;
  for (var i = lane; i < params.dk; i += LANES) {
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

  let factor = inverseSqrt(sums[0] + params.eps);
  if (group.x < params.kHeads) {
    let destination = (row * params.kHeads + group.x) * params.dk;
    for (var i = lane; i < params.dk; i += LANES) {
      q[destination + i] = x[source + i] * factor * params.scale;
    }
  } else {
    let destination = (row * params.kHeads + group.x - params.kHeads) * params.dk;
    for (var i = lane; i < params.dk; i += LANES) {
      k[destination + i] = x[source + i] * factor;
    }
  }
}
