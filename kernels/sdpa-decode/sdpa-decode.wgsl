// One workgroup attends one head of the one row, over chunks of 256 keys in rising order. Lane t scores key t of the chunk;
// then the lanes form LANES/WIDTH slices of WIDTH dimensions, and slice s adds values of keys s, s+slices, … of the chunk.
// Reduction: a score is HEAD_DIM products in rising order. Denominator: lane t adds its key of every chunk (ceil(keys/256)
// terms), then a workgroup tree of 8 levels. Output: serial in a slice, then slices are added in rising order. Everything is
// rescaled once a chunk. Depth: HEAD_DIM for a score; 2·ceil(keys/256) + 8 for the denominator;
// ceil(keys/256)·(ceil(256/slices) + 1) + slices for an output, where slices = floor(256 / min(HEAD_DIM, 256)).
struct Params {
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
const LANES = 256u;
const SIDE = 16u; // LANES = SIDE · SIDE
const SLOTS = 4u; // HEAD_DIM ≤ LANES · SLOTS
override WIDTH: u32 = min(HEAD_DIM, LANES);
override SLICES: u32 = LANES / WIDTH;
// Stands for a masked score in the maximum. Nothing is ever subtracted from it, so it cannot overflow to infinity.
const LOWEST = -3.4028234e38;

var<workgroup> query: array<f32, HEAD_DIM>;
var<workgroup> scores: array<f32, LANES>;
var<workgroup> tops: array<f32, SIDE>;
var<workgroup> weights: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = group.x;
  let kvStride = params.kvHeads * HEAD_DIM;
  let kvBase = head * params.kvHeads / params.heads * HEAD_DIM;
  let slice = lane / WIDTH;
  let dimension = lane % WIDTH;

  for (var i = lane; i < HEAD_DIM; i += LANES) {
    query[i] = q[head * HEAD_DIM + i];
  }
  workgroupBarrier();

  let keys = min(position[0] + 1u, params.context);
  var top = LOWEST;
  var total = 0.0;
  var sums: array<f32, SLOTS>;

  for (var start = 0u; start < keys; start += LANES) {
    let key = start + lane;
    var score = LOWEST;
    if (key < keys) {
      var dot = 0.0;
      for (var i = 0u; i < HEAD_DIM; i++) {
        dot += query[i] * kCache[key * kvStride + kvBase + i];
      }
      score = dot * params.scale;
    }
    scores[lane] = score;
    workgroupBarrier();
    // A maximum is the same in any order, so two serial rounds of 16 save the barriers of a tree.
    if (lane < SIDE) {
      var best = scores[lane * SIDE];
      for (var c = 1u; c < SIDE; c++) {
        best = max(best, scores[lane * SIDE + c]);
      }
      tops[lane] = best;
    }
    workgroupBarrier();
    let before = top;
    for (var c = 0u; c < SIDE; c++) {
      top = max(top, tops[c]);
    }
    var weight = 0.0;
    if (key < keys) {
      weight = exp(score - top);
    }
    weights[lane] = weight;
    workgroupBarrier();

    // Key 0 is always attended, so `before` is a real score from the second chunk on.
    if (start > 0u) {
      let shrink = exp(before - top);
      total *= shrink;
      for (var t = 0u; t * WIDTH < HEAD_DIM; t++) {
        sums[t] *= shrink;
      }
    }
    total += weight;
    if (slice < SLICES) {
      let count = min(LANES, keys - start);
      for (var c = slice; c < count; c += SLICES) {
        let w = weights[c];
        for (var t = 0u; t * WIDTH < HEAD_DIM; t++) {
          let i = dimension + t * WIDTH;
          if (i < HEAD_DIM) {
            sums[t] += w * vCache[(start + c) * kvStride + kvBase + i];
          }
        }
      }
    }
  }

  // Lanes may still be reading `weights` of the last chunk, so the denominator's tree is built in `scores`.
  scores[lane] = total;
  workgroupBarrier();
  for (var apart = LANES / 2u; apart > 0u; apart /= 2u) {
    if (lane < apart) {
      scores[lane] += scores[lane + apart];
    }
    workgroupBarrier();
  }
  let denominator = scores[0];

  // A second round needs HEAD_DIM > LANES, so SLICES = 1: each lane then reads what it wrote itself, and rounds need no barrier.
  for (var t = 0u; t * WIDTH < HEAD_DIM; t++) {
    weights[lane] = sums[t];
    workgroupBarrier();
    let i = dimension + t * WIDTH;
    if (slice == 0u && i < HEAD_DIM) {
      var sum = weights[dimension];
      for (var s = 1u; s < SLICES; s++) {
        sum += weights[s * WIDTH + dimension];
      }
      out[head * HEAD_DIM + i] = sum / denominator;
    }
  }
}
