// One token's queries normed and rotated, and its keys (normed and rotated too) and values put into the caches, in one launch, read in
// place from the joint projection [query | gate of each head, …, keys, values]. One workgroup a head: query heads, key heads, value heads.
// Every operation is that of qk-norm, rope and kv-write, in its order, so that their chain gives the same bits. Reduction: lane t sums
// squares of elements t, t+64, … in rising order, then a workgroup tree of 6 levels. Depth: ceil(headDim/64) + 6.
// A position past the context gives queries of zero and leaves the caches alone.
struct Params {
  heads: u32,
  kvHeads: u32,
  headDim: u32,
  rotary: u32,
  context: u32,
  kOffset: u32,
  vOffset: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> table: array<f32>;
@group(0) @binding(3) var<storage, read> position: array<u32>;
@group(0) @binding(4) var<storage, read_write> q: array<f32>;
@group(0) @binding(5) var<storage, read_write> kCache: array<f32>;
@group(0) @binding(6) var<storage, read_write> vCache: array<f32>;
@group(0) @binding(7) var<uniform> params: Params;

const LANES = 64u;
const MOST_ROTARY = 512u;
var<workgroup> sums: array<f32, LANES>;
var<workgroup> turning: array<f32, MOST_ROTARY>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let at = position[0];
  let cached = at * params.kvHeads * params.headDim;
  let isKey = group.x >= params.heads;
  if (group.x >= params.heads + params.kvHeads) {
    let head = group.x - params.heads - params.kvHeads;
    for (var i = lane; i < params.headDim; i += LANES) {
      if (at < params.context) {
        vCache[cached + head * params.headDim + i] = x[params.vOffset + head * params.headDim + i];
      }
    }
    return;
  }
  var source = group.x * 2u * params.headDim;
  var weights = 0u;
  if (isKey) {
    source = params.kOffset + (group.x - params.heads) * params.headDim;
    weights = params.headDim;
  }

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
  for (var i = lane; i < params.rotary; i += LANES) {
    turning[i] = x[source + i] * factor * weight[weights + i];
  }
  workgroupBarrier();

  let half = params.rotary / 2u;
  let angle = at * params.rotary;
  for (var i = lane; i < params.headDim; i += LANES) {
    var made = 0.0;
    if (at < params.context) {
      if (i < half) {
        made = fma(turning[i], table[angle + i], -(turning[i + half] * table[angle + half + i]));
      } else if (i < params.rotary) {
        made = fma(turning[i], table[angle + i - half], turning[i - half] * table[angle + i]);
      } else {
        made = x[source + i] * factor * weight[weights + i];
      }
    }
    if (!isKey) {
      q[group.x * params.headDim + i] = made;
    } else if (at < params.context) {
      kCache[cached + (group.x - params.heads) * params.headDim + i] = made;
    }
  }
}
