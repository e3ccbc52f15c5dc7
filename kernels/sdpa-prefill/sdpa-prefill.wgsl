// One workgroup attends 32 query rows of one head, over chunks of 32 keys in rising order, in two phases a chunk.
//   scores  lane (quad, key) makes the scores of four rows against one key; queries and keys pass through workgroup memory, 32 dimensions
//           at a time, each slab's loads under way while the one before is computed
//   values  lane (block, column) adds the chunk to output dimensions column, column + 64, … of eight rows
// Reduction, all serial and in rising order: a score is headDim products; the softmax denominator and each output dimension add one term
// a key, and are rescaled once a chunk. Depth: headDim for a score, keys + ceil(keys/32) for the sums.
// Nothing here is an array of a lane's own: what a compiler does not unroll, it puts into memory.
struct Params {
  rows: u32,
  heads: u32,
  kvHeads: u32,
  headDim: u32,
  context: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> kCache: array<f32>;
@group(0) @binding(2) var<storage, read> vCache: array<f32>;
@group(0) @binding(3) var<storage, read> position: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

override WIDE: u32; // 1: headDim > 256: each lane has eight columns, not four. The width itself is a parameter, so that all heads share two pipelines
const ROWS = 32u;
const KEYS = 32u;
const SLAB = 32u; // dimensions in workgroup memory at a time
const COLUMNS = 64u;
const LANES = 256u;
// Stands for a masked score in the maximum.
const LOWEST = -3.4028234e38;

// Strides of 9 vectors and 33 floats instead of 8 and 32: lanes that store side by side meet different banks.
var<workgroup> queries: array<vec4<f32>, 288>; // [dimension][quad of rows]
var<workgroup> keys: array<f32, 1056>; // [dimension][key]
var<workgroup> weights: array<vec4<f32>, 288>; // [key][quad of rows]: scores, then weights
var<workgroup> shrinks: array<vec4<f32>, 8>; // [quad of rows]

// One dimension of four rows and of four keys.
struct Loaded {
  rows: vec4<f32>,
  keys: vec4<f32>,
}

// Dimensions past the width and rows past the last are zeros. Without branches: a load is made and its result not taken.
fn query(row: u32, head: u32, dimension: u32) -> f32 {
  let value = q[(min(row, params.rows - 1u) * params.heads + head) * params.headDim + min(dimension, params.headDim - 1u)];
  return select(0.0, value, row < params.rows && dimension < params.headDim);
}

fn cached_key(key: u32, count: u32, kv_base: u32, dimension: u32) -> f32 {
  let value = kCache[min(key, count - 1u) * params.kvHeads * params.headDim + kv_base + min(dimension, params.headDim - 1u)];
  return select(0.0, value, dimension < params.headDim);
}

// Four values of one key, 64 dimensions apart. Those past the head's width are its last, and nobody's.
fn four_values(base: u32, at: vec4<u32>) -> vec4<f32> {
  return vec4<f32>(vCache[base + at.x], vCache[base + at.y], vCache[base + at.z], vCache[base + at.w]);
}

// Output dimensions of eight rows.
struct Sums {
  r0: vec4<f32>,
  r1: vec4<f32>,
  r2: vec4<f32>,
  r3: vec4<f32>,
  r4: vec4<f32>,
  r5: vec4<f32>,
  r6: vec4<f32>,
  r7: vec4<f32>,
}

fn shrunk(s: Sums, low: vec4<f32>, high: vec4<f32>) -> Sums {
  return Sums(s.r0 * low.x, s.r1 * low.y, s.r2 * low.z, s.r3 * low.w, s.r4 * high.x, s.r5 * high.y, s.r6 * high.z, s.r7 * high.w);
}

fn added(s: Sums, low: vec4<f32>, high: vec4<f32>, v: vec4<f32>) -> Sums {
  return Sums(
    fma(vec4<f32>(low.x), v, s.r0),
    fma(vec4<f32>(low.y), v, s.r1),
    fma(vec4<f32>(low.z), v, s.r2),
    fma(vec4<f32>(low.w), v, s.r3),
    fma(vec4<f32>(high.x), v, s.r4),
    fma(vec4<f32>(high.y), v, s.r5),
    fma(vec4<f32>(high.z), v, s.r6),
    fma(vec4<f32>(high.w), v, s.r7),
  );
}

// The same where only rows from `skipped` on attend the key: no other may meet its value, which can be infinite.
fn added_from(s: Sums, low: vec4<f32>, high: vec4<f32>, v: vec4<f32>, skipped: u32) -> Sums {
  let a = added(s, low, high, v);
  return Sums(
    select(a.r0, s.r0, skipped > 0u),
    select(a.r1, s.r1, skipped > 1u),
    select(a.r2, s.r2, skipped > 2u),
    select(a.r3, s.r3, skipped > 3u),
    select(a.r4, s.r4, skipped > 4u),
    select(a.r5, s.r5, skipped > 5u),
    select(a.r6, s.r6, skipped > 6u),
    select(a.r7, s.r7, skipped > 7u),
  );
}

fn row_of(s: Sums, r: u32) -> vec4<f32> {
  let low = select(select(s.r0, s.r1, r == 1u), select(s.r2, s.r3, r == 3u), r > 1u);
  let high = select(select(s.r4, s.r5, r == 5u), select(s.r6, s.r7, r == 7u), r > 5u);
  return select(low, high, r > 3u);
}

fn write_rows(first: u32, head: u32, dimension: u32, s: Sums, low: vec4<f32>, high: vec4<f32>) {
  for (var r = 0u; first + r < min(first + 8u, params.rows); r++) {
    let sums = row_of(s, r) / select(low, high, r > 3u)[r % 4u];
    let base = ((first + r) * params.heads + head) * params.headDim;
    for (var d = dimension; d < min(dimension + 4u * COLUMNS, params.headDim); d += COLUMNS) {
      out[base + d] = sums[(d - dimension) / COLUMNS];
    }
  }
}

// Dimension `dimension` of rows row … row + 3 and of keys key … key + 3.
fn load(row: u32, key: u32, count: u32, head: u32, kv_base: u32, dimension: u32) -> Loaded {
  return Loaded(
    vec4<f32>(query(row, head, dimension), query(row + 1u, head, dimension), query(row + 2u, head, dimension), query(row + 3u, head, dimension)),
    vec4<f32>(
      cached_key(key, count, kv_base, dimension),
      cached_key(key + 1u, count, kv_base, dimension),
      cached_key(key + 2u, count, kv_base, dimension),
      cached_key(key + 3u, count, kv_base, dimension),
    ),
  );
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = group.x;
  // The last rows, which attend most keys, begin first.
  let first_row = (grid.y - 1u - group.y) * ROWS;
  let kv_base = head * params.kvHeads / params.heads * params.headDim;
  let first = position[0];
  // Keys that any row of this tile attends.
  let count = min(first + min(first_row + ROWS, params.rows), params.context);

  // Of scores, and of loads: four rows, one key or one dimension.
  let quad = lane / KEYS;
  let column = lane % KEYS;
  let limits = min(vec4<u32>(first + first_row + quad * 4u + 1u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(count));
  var top = vec4<f32>(LOWEST);

  // Of values: eight rows, dimensions `dimension` + 64·i.
  let dimension = lane % COLUMNS;
  let block_row = first_row + lane / COLUMNS * 8u;
  let near_at = min(vec4<u32>(dimension) + vec4<u32>(0u, 64u, 128u, 192u), vec4<u32>(params.headDim - 1u));
  let far_at = min(near_at + vec4<u32>(256u), vec4<u32>(params.headDim - 1u));
  let low_at = lane / COLUMNS * 2u;
  var near: Sums;
  var far: Sums;
  var low_total = vec4<f32>();
  var high_total = vec4<f32>();

  for (var start = 0u; start < count; start += KEYS) {
    let chunk = min(KEYS, count - start);
    var scores = vec4<f32>();
    var next = load(first_row + quad * 4u, start + quad * 4u, count, head, kv_base, column);
    for (var slab = 0u; slab < params.headDim; slab += SLAB) {
      queries[column * 9u + quad] = next.rows;
      keys[column * 33u + quad * 4u] = next.keys.x;
      keys[column * 33u + quad * 4u + 1u] = next.keys.y;
      keys[column * 33u + quad * 4u + 2u] = next.keys.z;
      keys[column * 33u + quad * 4u + 3u] = next.keys.w;
      workgroupBarrier();
      if (slab + SLAB < params.headDim) {
        next = load(first_row + quad * 4u, start + quad * 4u, count, head, kv_base, slab + SLAB + column);
      }
      for (var i = 0u; i < SLAB; i++) {
        scores = fma(vec4<f32>(keys[i * 33u + column]), queries[i * 9u + quad], scores);
      }
      workgroupBarrier();
    }
    let attended = vec4<u32>(start + column) < limits;
    scores = select(vec4<f32>(LOWEST), scores * params.scale, attended);
    weights[column * 9u + quad] = scores;
    workgroupBarrier();

    let before = top;
    for (var c = 0u; c < KEYS; c++) {
      top = max(top, weights[c * 9u + quad]);
    }
    workgroupBarrier();
    // Nothing is ever subtracted from LOWEST, so that nothing overflows to infinity.
    weights[column * 9u + quad] = select(vec4<f32>(), exp(select(top, scores, attended) - top), attended);
    if (column == 0u) {
      // Key 0 is attended by every row, so `before` is a real score from the second chunk on.
      shrinks[quad] = exp(select(top, before, vec4<bool>(start > 0u)) - top);
    }
    workgroupBarrier();

    let low_shrink = shrinks[low_at];
    let high_shrink = shrinks[low_at + 1u];
    low_total *= low_shrink;
    high_total *= high_shrink;
    near = shrunk(near, low_shrink, high_shrink);
    if (WIDE == 1u) {
      far = shrunk(far, low_shrink, high_shrink);
    }
    // The last key that every row of the block attends.
    let last = first + block_row;
    for (var c = 0u; c < chunk; c++) {
      let low = weights[c * 9u + low_at];
      let high = weights[c * 9u + low_at + 1u];
      let base = (start + c) * params.kvHeads * params.headDim + kv_base;
      let v = four_values(base, near_at);
      low_total += low;
      high_total += high;
      let skipped = max(start + c, last) - last;
      if (skipped == 0u) {
        near = added(near, low, high, v);
      } else {
        near = added_from(near, low, high, v, skipped);
      }
      if (WIDE == 1u) {
        far = added_from(far, low, high, four_values(base, far_at), skipped);
      }
    }
  }

  write_rows(block_row, head, dimension, near, low_total, high_total);
  if (WIDE == 1u) {
    write_rows(block_row, head, dimension + 256u, far, low_total, high_total);
  }
}
