// One token's queries normed and rotated, and its keys (normed and rotated too) and values put into the caches, in one launch, read in
// place from the joint projection [query | gate of each head, …, keys, values]. One workgroup a head: query heads, key heads, value heads.
// Every operation is that of qk-norm, rope and kv-write, in its order, so that their chain gives the same bits. Reduction: lane t sums
// squares of elements t, t+64, … in rising order, then a workgroup tree of 6 levels. Depth: ceil(headDim/64) + 6.
// A position past the context gives queries of zero and leaves the caches alone.
struct Params {
  heads: u32,
  kvHeads: u32,
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

// Known to the compiler: loops of unknown length waited for each of their loads in turn.
override HEAD_DIM: u32;
override ROTARY: u32;
const LANES = 256u; // an element each, as a lane that stores one may load no other meanwhile
const SUMMING = 64u; // of them add squares
const MOST_ROTARY = 512u;
var<workgroup> sums: array<f32, SUMMING>;
var<workgroup> turning: array<f32, MOST_ROTARY>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let at = position[0];
  let cached = at * params.kvHeads * HEAD_DIM;
  let isKey = group.x >= params.heads;
  if (group.x >= params.heads + params.kvHeads) {
    let head = group.x - params.heads - params.kvHeads;
    for (var i = lane; i < HEAD_DIM; i += LANES) {
      if (at < params.context) {
        vCache[cached + head * HEAD_DIM + i] = x[params.vOffset + head * HEAD_DIM + i];
      }
    }
    return;
  }
  var source = group.x * 2u * HEAD_DIM;
  var weights = 0u;
  if (isKey) {
    source = params.kOffset + (group.x - params.heads) * HEAD_DIM;
    weights = HEAD_DIM;
  }

  var sum = 0.0;
  if (lane < SUMMING) {
    for (var i = lane; i < HEAD_DIM; i += SUMMING) {
      let value = x[source + i];
      sum = fma(value, value, sum);
    }
    sums[lane] = sum;
  }
  workgroupBarrier();
  for (var apart = SUMMING / 2u; apart > 0u; apart /= 2u) {
    if (lane < apart) {
      sums[lane] += sums[lane + apart];
    }
    workgroupBarrier();
  }

  let factor = inverseSqrt(sums[0] / f32(HEAD_DIM) + params.eps);
  for (var i = lane; i < ROTARY; i += LANES) {
    turning[i] = x[source + i] * factor * weight[weights + i];
  }
  workgroupBarrier();

  let half = ROTARY / 2u;
  let angle = at * ROTARY;
  for (var i = lane; i < HEAD_DIM; i += LANES) {
    var made = 0.0;
    if (at < params.context) {
      if (i < half) {
        made = fma(turning[i], table[angle + i], -(turning[i + half] * table[angle + half + i]));
      } else if (i < ROTARY) {
        made = fma(turning[i], table[angle + i - half], turning[i - half] * table[angle + i]);
      } else {
        made = x[source + i] * factor * weight[weights + i];
      }
    }
    if (!isKey) {
      q[group.x * HEAD_DIM + i] = made;
    } else if (at < params.context) {
      kCache[cached + (group.x - params.heads) * HEAD_DIM + i] = made;
    }
  }
}
