// Attention of one token, its keys split over workgroups: one workgroup a chunk of 32 keys, key-value head and four of the query heads that
// read it, so that up to that many heads a key or value is read once. What it leaves is merged by sdpa-merge-gate: per head and chunk the largest score
// m, the sum l of exp(score − m) and the sum of exp(score − m)·v.
// Reduction: a score is HEAD_DIM/8 products in each of eight lanes (lane p takes vectors p, p + 8, … of four elements), added in rising
// lane order. l: keys in rising order. An output: keys in rising order by slice of the keys (256 / HEAD_DIM slices, slice s has keys
// s·KEYS/SLICES and on), then slices in rising order. Chunks past the position write nothing.
// The four heads are the components of a vector, not an array: what a compiler does not unroll, it puts into memory.
struct Params {
  kvHeads: u32,
  group: u32, // query heads a key-value head
  context: u32,
  chunks: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> kCache: array<f32>;
@group(0) @binding(2) var<storage, read> vCache: array<f32>;
@group(0) @binding(3) var<storage, read> position: array<u32>;
@group(0) @binding(4) var<storage, read_write> sums: array<f32>;
@group(0) @binding(5) var<storage, read_write> stats: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

// The same buffer, sixteen bytes a load.
@group(0) @binding(1) var<storage, read> kCache_vec4: array<vec4<f32>>;

override HEAD_DIM: u32; // 64, 128 or 256
const LANES = 256u;
const KEYS = 32u;
const HEADS = 4u; // query heads a workgroup
const SPLIT = 8u; // lanes a score: LANES / KEYS
override SLICES: u32 = LANES / HEAD_DIM;
override SLICE_KEYS: u32 = KEYS / SLICES;

// Element 4d + e of the heads. Heads past the group hold zeros.
var<workgroup> queries: array<array<vec4<f32>, 4>, 64>;
// A lane's part of the scores, eight to a key; later a slice's part of the outputs.
var<workgroup> parts: array<array<vec4<f32>, 8>, 32>;
// Scores, then weights, of one key; by fours of keys.
var<workgroup> weights: array<array<vec4<f32>, 4>, 8>;

fn query_at(head: u32, element: u32) -> f32 {
  if (head < params.group) {
    return q[element];
  }
  return 0.0;
}

// Of the four heads from `first` on, counted within the group.
fn queries_at(kvHead: u32, first: u32, element: u32) -> vec4<f32> {
  let base = (kvHead * params.group + first) * HEAD_DIM + element;
  return vec4<f32>(
    query_at(first, base),
    query_at(first + 1u, base + HEAD_DIM),
    query_at(first + 2u, base + 2u * HEAD_DIM),
    query_at(first + 3u, base + 3u * HEAD_DIM)
  );
}

fn add_vector(start: vec4<f32>, vector: u32, k: vec4<f32>) -> vec4<f32> {
  var made = fma(queries[vector][0], vec4<f32>(k.x), start);
  made = fma(queries[vector][1], vec4<f32>(k.y), made);
  made = fma(queries[vector][2], vec4<f32>(k.z), made);
  return fma(queries[vector][3], vec4<f32>(k.w), made);
}

// The eight parts of one key's scores, in rising order.
fn gather_parts(key: u32) -> vec4<f32> {
  return ((((((parts[key][0] + parts[key][1]) + parts[key][2]) + parts[key][3]) + parts[key][4]) + parts[key][5]) + parts[key][6]) + parts[key][7];
}

// Element `at` of four keys' values from `key` on. Past the last key it is the last's again: what lies there may be no number.
fn four_values(at: u32, stride: u32, key: u32, last: u32) -> vec4<f32> {
  return vec4<f32>(
    vCache[at + min(key, last) * stride],
    vCache[at + min(key + 1u, last) * stride],
    vCache[at + min(key + 2u, last) * stride],
    vCache[at + min(key + 3u, last) * stride]
  );
}

// A value that counts; 0 past the count, where an infinite last value by no weight would be NaN.
fn counted(value: f32, key: u32, count: u32) -> f32 {
  return select(0.0, value, key < count);
}

// The values of keys 4·four … by their weights.
fn add_values(start: vec4<f32>, four: u32, v: vec4<f32>, count: u32) -> vec4<f32> {
  let key = four * 4u;
  var made = fma(weights[four][0], vec4<f32>(counted(v.x, key, count)), start);
  made = fma(weights[four][1], vec4<f32>(counted(v.y, key + 1u, count)), made);
  made = fma(weights[four][2], vec4<f32>(counted(v.z, key + 2u, count)), made);
  return fma(weights[four][3], vec4<f32>(counted(v.w, key + 3u, count)), made);
}

fn write_stats(kvHead: u32, chunk: u32, head: u32, top: f32, total: f32) {
  if (head < params.group) {
    let at = ((kvHead * params.group + head) * params.chunks + chunk) * 2u;
    stats[at] = top;
    stats[at + 1u] = total;
  }
}

fn write_sum(kvHead: u32, chunk: u32, head: u32, dimension: u32, value: f32) {
  if (head < params.group) {
    sums[((kvHead * params.group + head) * params.chunks + chunk) * HEAD_DIM + dimension] = value;
  }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let keys = min(position[0] + 1u, params.context);
  let chunk = group.x;
  let start = chunk * KEYS;
  let kvHead = group.y;
  let first = group.z * HEADS;
  if (start >= keys) {
    return;
  }
  let count = min(KEYS, keys - start);
  let key = lane / SPLIT;
  let place = lane % SPLIT;

  // Keys past the count are the last of the chunk: they get no weight.
  let vectors = HEAD_DIM / 4u;
  let base = ((start + min(key, count - 1u)) * params.kvHeads + kvHead) * vectors + place;
  let k0 = kCache_vec4[base];
  let k1 = kCache_vec4[base + 8u];
  var k2 = vec4<f32>();
  var k3 = vec4<f32>();
  var k4 = vec4<f32>();
  var k5 = vec4<f32>();
  var k6 = vec4<f32>();
  var k7 = vec4<f32>();
  if (HEAD_DIM > 64u) {
    k2 = kCache_vec4[base + 16u];
    k3 = kCache_vec4[base + 24u];
  }
  if (HEAD_DIM > 128u) {
    k4 = kCache_vec4[base + 32u];
    k5 = kCache_vec4[base + 40u];
    k6 = kCache_vec4[base + 48u];
    k7 = kCache_vec4[base + 56u];
  }
  let slice = lane / HEAD_DIM;
  let dimension = lane % HEAD_DIM;
  let firstKey = slice * SLICE_KEYS;
  let stride = params.kvHeads * HEAD_DIM;
  let values = start * stride + kvHead * HEAD_DIM + dimension;
  // Under way while scores are made.
  let last = count - 1u;
  let v0 = four_values(values, stride, firstKey, last);
  let v1 = four_values(values, stride, firstKey + 4u, last);
  var v2 = vec4<f32>();
  var v3 = vec4<f32>();
  var v4 = vec4<f32>();
  var v5 = vec4<f32>();
  var v6 = vec4<f32>();
  var v7 = vec4<f32>();
  if (SLICE_KEYS > 8u) {
    v2 = four_values(values, stride, firstKey + 8u, last);
    v3 = four_values(values, stride, firstKey + 12u, last);
  }
  if (SLICE_KEYS > 16u) {
    v4 = four_values(values, stride, firstKey + 16u, last);
    v5 = four_values(values, stride, firstKey + 20u, last);
    v6 = four_values(values, stride, firstKey + 24u, last);
    v7 = four_values(values, stride, firstKey + 28u, last);
  }
  if (lane < HEAD_DIM) {
    queries[lane / 4u][lane % 4u] = queries_at(kvHead, first, lane);
  }
  workgroupBarrier();

  var score = add_vector(add_vector(vec4<f32>(), place, k0), place + 8u, k1);
  if (HEAD_DIM > 64u) {
    score = add_vector(add_vector(score, place + 16u, k2), place + 24u, k3);
  }
  if (HEAD_DIM > 128u) {
    score = add_vector(add_vector(score, place + 32u, k4), place + 40u, k5);
    score = add_vector(add_vector(score, place + 48u, k6), place + 56u, k7);
  }
  parts[key][place] = score;
  workgroupBarrier();
  // Past the count it is the last key's score again, which moves no maximum.
  if (lane < KEYS) {
    weights[lane / 4u][lane % 4u] = gather_parts(lane) * params.scale;
  }
  workgroupBarrier();
  // Every lane of the first 32 finds the maxima; then each weighs one key.
  var top = weights[0][0];
  if (lane < KEYS) {
    for (var c = 1u; c < KEYS; c++) {
      top = max(top, weights[c / 4u][c % 4u]);
    }
  }
  workgroupBarrier();
  if (lane < KEYS) {
    var weight = vec4<f32>();
    if (lane < count) {
      weight = exp(weights[lane / 4u][lane % 4u] - top);
    }
    weights[lane / 4u][lane % 4u] = weight;
  }
  workgroupBarrier();
  if (lane == 0u) {
    var total = weights[0][0];
    for (var c = 1u; c < KEYS; c++) {
      total += weights[c / 4u][c % 4u];
    }
    write_stats(kvHead, chunk, first, top.x, total.x);
    write_stats(kvHead, chunk, first + 1u, top.y, total.y);
    write_stats(kvHead, chunk, first + 2u, top.z, total.z);
    write_stats(kvHead, chunk, first + 3u, top.w, total.w);
  }

  let four = firstKey / 4u;
  var made = add_values(add_values(vec4<f32>(), four, v0, count), four + 1u, v1, count);
  if (SLICE_KEYS > 8u) {
    made = add_values(add_values(made, four + 2u, v2, count), four + 3u, v3, count);
  }
  if (SLICE_KEYS > 16u) {
    made = add_values(add_values(made, four + 4u, v4, count), four + 5u, v5, count);
    made = add_values(add_values(made, four + 6u, v6, count), four + 7u, v7, count);
  }
  if (SLICES > 1u) {
    parts[key][place] = made;
    workgroupBarrier();
    if (slice == 0u) {
      for (var s = 1u; s < SLICES; s++) {
        made += parts[(s * HEAD_DIM + dimension) / 8u][dimension % 8u];
      }
    }
  }
  if (slice == 0u) {
    write_sum(kvHead, chunk, first, dimension, made.x);
    write_sum(kvHead, chunk, first + 1u, dimension, made.y);
    write_sum(kvHead, chunk, first + 2u, dimension, made.z);
    write_sum(kvHead, chunk, first + 3u, dimension, made.w);
  }
}
