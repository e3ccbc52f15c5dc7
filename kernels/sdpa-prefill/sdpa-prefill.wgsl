// One workgroup attends 8 query rows of one head, over chunks of 32 keys in rising order. Lane (slot, column) scores key
// `column` of the chunk for row `slot`, then owns output dimensions column, column+32, … of that row.
// Reduction, all serial and in rising key order: a score is HEAD_DIM products; the softmax denominator and each output
// dimension add one term a key, and are rescaled once a chunk. Depth: HEAD_DIM for a score, keys + ceil(keys/32) for the sums.
struct Params {
  rows: u32,
  heads: u32,
  kvHeads: u32,
  context: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> kCache: array<f32>;
@group(0) @binding(2) var<storage, read> vCache: array<f32>;
@group(0) @binding(3) var<storage, read> position: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

override HEAD_DIM: u32;
override TILE: u32 = ROWS * HEAD_DIM;
const ROWS = 8u;
const KEYS = 32u;
const LANES = 256u; // ROWS · KEYS
// HEAD_DIM ≤ 448: the query tile and both score arrays then fit 16 KiB.
const SLOTS = 14u;
// Stands for a masked score in the maximum. Nothing is ever subtracted from it, so it cannot overflow to infinity.
const LOWEST = -3.4028234e38;

var<workgroup> queries: array<f32, TILE>;
var<workgroup> scores: array<f32, LANES>;
var<workgroup> weights: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = group.x;
  let firstRow = group.y * ROWS;
  let slot = lane / KEYS;
  let column = lane % KEYS;
  let row = firstRow + slot;
  let kvStride = params.kvHeads * HEAD_DIM;
  let kvBase = head * params.kvHeads / params.heads * HEAD_DIM;

  for (var i = lane; i < TILE; i += LANES) {
    let source = firstRow + i / HEAD_DIM;
    var value = 0.0;
    if (source < params.rows) {
      value = q[(source * params.heads + head) * HEAD_DIM + i % HEAD_DIM];
    }
    queries[i] = value;
  }
  workgroupBarrier();

  let first = position[0];
  // Keys that any row of this tile attends, and keys that this lane's row attends.
  let keys = min(first + min(firstRow + ROWS, params.rows), params.context);
  let limit = min(first + row + 1u, keys);
  var top = LOWEST;
  var total = 0.0;
  var sums: array<f32, SLOTS>;

  for (var start = 0u; start < keys; start += KEYS) {
    let key = start + column;
    var score = LOWEST;
    if (key < limit) {
      var dot = 0.0;
      for (var i = 0u; i < HEAD_DIM; i++) {
        dot += queries[slot * HEAD_DIM + i] * kCache[key * kvStride + kvBase + i];
      }
      score = dot * params.scale;
    }
    scores[lane] = score;
    workgroupBarrier();

    let before = top;
    for (var c = 0u; c < KEYS; c++) {
      top = max(top, scores[slot * KEYS + c]);
    }
    var weight = 0.0;
    if (key < limit) {
      weight = exp(score - top);
    }
    weights[lane] = weight;
    workgroupBarrier();

    // Key 0 is attended by every row, so `before` is a real score from the second chunk on.
    if (start > 0u) {
      let shrink = exp(before - top);
      total *= shrink;
      for (var t = 0u; t * KEYS < HEAD_DIM; t++) {
        sums[t] *= shrink;
      }
    }
    let count = min(KEYS, limit - min(limit, start));
    for (var c = 0u; c < count; c++) {
      let w = weights[slot * KEYS + c];
      total += w;
      for (var t = 0u; t * KEYS < HEAD_DIM; t++) {
        let i = column + t * KEYS;
        if (i < HEAD_DIM) {
          sums[t] += w * vCache[(start + c) * kvStride + kvBase + i];
        }
      }
    }
  }

  if (row < params.rows) {
    for (var t = 0u; t * KEYS < HEAD_DIM; t++) {
      let i = column + t * KEYS;
      if (i < HEAD_DIM) {
        out[(row * params.heads + head) * HEAD_DIM + i] = sums[t] / total;
      }
    }
  }
}
