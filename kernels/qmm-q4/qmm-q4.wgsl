// y[row, col] = sum over i of x[row, i] * (scale[col, i / 64] * q[col, i] + bias[col, i / 64])
//
// Family serial-k: each output is the work of one lane, which adds its k products in the order 0 .. k-1, starting from +0, each
// as fma(x, w, sum) with w = fma(scale, q, bias). All its entry points do so and are byte-identical; they differ in what a lane
// reads at once and what it reads once for several outputs:
//   scalar      one output a lane, a word at a time
//   vec4_loads  the same, sixteen bytes at a time
//   tile_rows   four rows of one column a lane: a weight is formed once for four rows
//   ncols       four columns of one row a lane, 64 apart: x is read once for four columns
//   tile_32     32 columns of one row a workgroup: weights are read side by side, and pass through workgroup memory
//   tile        128 rows by 128 columns a workgroup, eight by eight a lane: both factors pass through workgroup memory

struct Params {
  rows: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> codes: array<u32>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
@group(0) @binding(3) var<storage, read> biases: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

// The same two buffers, sixteen bytes a load.
@group(0) @binding(0) var<storage, read> x_vec4: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> codes_vec4: array<vec4<u32>>;

const COLUMNS = 64u;

struct Place {
  row: u32,
  col: u32,
}

fn place(group: vec3<u32>, grid: vec3<u32>, lane: u32) -> Place {
  let blocks = (params.n + COLUMNS - 1u) / COLUMNS;
  let linear = linear_group(group, grid);
  return Place(linear / blocks, (linear % blocks) * COLUMNS + lane);
}

// One weight. 4-bit code times bf16 scale is exact in f32, so w has a single rounding, fused or not. The code is converted as
// a signed integer, which x86 does in one instruction (SwiftShader: 1.18 ms became 0.74 for 768 columns of 256).
fn weight(code: u32, scale: f32, bias: f32) -> f32 {
  return fma(scale, f32(i32(code & 15u)), bias);
}

fn step(sum: f32, code: u32, scale: f32, bias: f32, value: f32) -> f32 {
  return fma(value, weight(code, scale, bias), sum);
}

// Eight products, the lowest nibble first.
fn dot8(start: f32, word: u32, scale: f32, bias: f32, a: vec4<f32>, b: vec4<f32>) -> f32 {
  var sum = start;
  sum = step(sum, word, scale, bias, a.x);
  sum = step(sum, word >> 4u, scale, bias, a.y);
  sum = step(sum, word >> 8u, scale, bias, a.z);
  sum = step(sum, word >> 12u, scale, bias, a.w);
  sum = step(sum, word >> 16u, scale, bias, b.x);
  sum = step(sum, word >> 20u, scale, bias, b.y);
  sum = step(sum, word >> 24u, scale, bias, b.z);
  sum = step(sum, word >> 28u, scale, bias, b.w);
  return sum;
}

fn group_scale(index: u32) -> f32 {
  return bf16_half(scales[index >> 1u], index);
}

fn group_bias(index: u32) -> f32 {
  return bf16_half(biases[index >> 1u], index);
}

@compute @workgroup_size(64)
fn scalar(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let at = place(group, grid, lane);
  if (at.row >= params.rows || at.col >= params.n) {
    return;
  }
  let groups = params.k / 64u;
  var sum = 0.0;
  for (var g = 0u; g < groups; g++) {
    let scale = group_scale(at.col * groups + g);
    let bias = group_bias(at.col * groups + g);
    for (var w = 0u; w < 8u; w++) {
      let i = at.row * params.k + g * 64u + w * 8u;
      let a = vec4<f32>(x[i], x[i + 1u], x[i + 2u], x[i + 3u]);
      let b = vec4<f32>(x[i + 4u], x[i + 5u], x[i + 6u], x[i + 7u]);
      sum = dot8(sum, codes[(at.col * groups + g) * 8u + w], scale, bias, a, b);
    }
  }
  y[at.row * params.n + at.col] = sum;
}

@compute @workgroup_size(64)
fn vec4_loads(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let at = place(group, grid, lane);
  if (at.row >= params.rows || at.col >= params.n) {
    return;
  }
  let groups = params.k / 64u;
  var sum = 0.0;
  for (var g = 0u; g < groups; g++) {
    let scale = group_scale(at.col * groups + g);
    let bias = group_bias(at.col * groups + g);
    for (var half = 0u; half < 2u; half++) {
      let i = (at.row * params.k + g * 64u) / 4u + half * 8u;
      let words = codes_vec4[(at.col * groups + g) * 2u + half];
      sum = dot8(sum, words.x, scale, bias, x_vec4[i], x_vec4[i + 1u]);
      sum = dot8(sum, words.y, scale, bias, x_vec4[i + 2u], x_vec4[i + 3u]);
      sum = dot8(sum, words.z, scale, bias, x_vec4[i + 4u], x_vec4[i + 5u]);
      sum = dot8(sum, words.w, scale, bias, x_vec4[i + 6u], x_vec4[i + 7u]);
    }
  }
  y[at.row * params.n + at.col] = sum;
}

// The weights of the four lowest codes of a word.
fn weights4(word: u32, scale: f32, bias: f32) -> vec4<f32> {
  return vec4<f32>(weight(word, scale, bias), weight(word >> 4u, scale, bias), weight(word >> 8u, scale, bias), weight(word >> 12u, scale, bias));
}

// Four products, one by one.
fn add4(sum: f32, a: vec4<f32>, w: vec4<f32>) -> f32 {
  return fma(a.w, w.w, fma(a.z, w.z, fma(a.y, w.y, fma(a.x, w.x, sum))));
}

// Where four rows from `first` on start in x_vec4. Those past the last row are the last: their sums are not written.
fn row_starts(first: u32) -> vec4<u32> {
  return min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(params.rows - 1u)) * (params.k / 4u);
}

// Four products of each of four rows.
fn add_rows(sums: vec4<f32>, at: vec4<u32>, w: vec4<f32>) -> vec4<f32> {
  return vec4<f32>(add4(sums.x, x_vec4[at.x], w), add4(sums.y, x_vec4[at.y], w), add4(sums.z, x_vec4[at.z], w), add4(sums.w, x_vec4[at.w], w));
}

fn write_rows(first: u32, col: u32, sums: vec4<f32>) {
  let live = min(params.rows - first, 4u);
  for (var r = 0u; r < live; r++) {
    y[(first + r) * params.n + col] = sums[r];
  }
}

@compute @workgroup_size(64)
fn tile_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let at = place(group, grid, lane);
  let first = at.row * 4u;
  if (first >= params.rows || at.col >= params.n) {
    return;
  }
  let starts = row_starts(first);
  let groups = params.k / 64u;
  var sums = vec4<f32>();
  for (var g = 0u; g < groups; g++) {
    let scale = group_scale(at.col * groups + g);
    let bias = group_bias(at.col * groups + g);
    for (var w = 0u; w < 8u; w++) {
      let word = codes[(at.col * groups + g) * 8u + w];
      let i = starts + g * 16u + w * 2u;
      sums = add_rows(sums, i, weights4(word, scale, bias));
      sums = add_rows(sums, i + 1u, weights4(word >> 16u, scale, bias));
    }
  }
  write_rows(first, at.col, sums);
}

@compute @workgroup_size(64)
fn ncols(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let blocks = (params.n + 4u * COLUMNS - 1u) / (4u * COLUMNS);
  let linear = linear_group(group, grid);
  let row = linear / blocks;
  let col = (linear % blocks) * (4u * COLUMNS) + lane;
  if (row >= params.rows || col >= params.n) {
    return;
  }
  let groups = params.k / 64u;
  // Columns past the last are the last: their sums are not written.
  let starts = min(vec4<u32>(col) + vec4<u32>(0u, 1u, 2u, 3u) * COLUMNS, vec4<u32>(params.n - 1u)) * groups;
  var sums = vec4<f32>();
  for (var g = 0u; g < groups; g++) {
    let at = starts + g;
    let scale = vec4<f32>(group_scale(at.x), group_scale(at.y), group_scale(at.z), group_scale(at.w));
    let bias = vec4<f32>(group_bias(at.x), group_bias(at.y), group_bias(at.z), group_bias(at.w));
    for (var w = 0u; w < 8u; w++) {
      let i = (row * params.k + g * 64u + w * 8u) / 4u;
      let a = x_vec4[i];
      let b = x_vec4[i + 1u];
      sums.x = dot8(sums.x, codes[at.x * 8u + w], scale.x, bias.x, a, b);
      sums.y = dot8(sums.y, codes[at.y * 8u + w], scale.y, bias.y, a, b);
      sums.z = dot8(sums.z, codes[at.z * 8u + w], scale.z, bias.z, a, b);
      sums.w = dot8(sums.w, codes[at.w * 8u + w], scale.w, bias.w, a, b);
    }
  }
  let live = min((params.n - col + COLUMNS - 1u) / COLUMNS, 4u);
  for (var c = 0u; c < live; c++) {
    y[row * params.n + col + c * COLUMNS] = sums[c];
  }
}

// Up to eight vectors of 32 codes of 32 columns; a column takes nine, so that lanes read from different banks.
const TILE_COLUMNS = 32u;
const PARTS = 8u;
var<workgroup> column_words: array<vec4<u32>, 288>;

@compute @workgroup_size(32)
fn tile_32(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let blocks = (params.n + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  let linear = linear_group(group, grid);
  let row = linear / blocks;
  if (row >= params.rows) {
    return;
  }
  let first = linear % blocks * TILE_COLUMNS;
  // Columns past the last are the last: their sums are not written.
  let last = params.n - 1u;
  let groups = params.k / 64u;
  let own = min(first + lane, last) * groups;
  var sum = 0.0;
  for (var start = 0u; start < groups * 2u; start += PARTS) {
    let parts = min(groups * 2u - start, PARTS);
    for (var at = lane; at < TILE_COLUMNS * parts; at += TILE_COLUMNS) {
      let column = at / parts;
      column_words[column * 9u + at % parts] = codes_vec4[min(first + column, last) * groups * 2u + start + at % parts];
    }
    workgroupBarrier();
    for (var part = 0u; part < parts; part++) {
      let scale = group_scale(own + (start + part) / 2u);
      let bias = group_bias(own + (start + part) / 2u);
      for (var w = 0u; w < 4u; w++) {
        let i = row * params.k / 4u + (start + part) * 8u + w * 2u;
        sum = dot8(sum, column_words[lane * 9u + part][w], scale, bias, x_vec4[i], x_vec4[i + 1u]);
      }
    }
    workgroupBarrier();
  }
  if (first + lane < params.n) {
    y[row * params.n + first + lane] = sum;
  }
}

// Families split-k and fixed: see shared/split-k.wgsl.
@compute @workgroup_size(256)
fn split(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let blocks = (params.n + TEAMS * OUTPUTS - 1u) / (TEAMS * OUTPUTS);
  let linear = linear_group(group, grid);
  let row = linear / blocks;
  if (row >= params.rows) {
    return;
  }
  let base = (linear % blocks) * TEAMS * OUTPUTS;
  let first = base + lane / TEAM * OUTPUTS;
  let slices = params.k / 32u;
  var share = share_of_x(row * params.k / 4u, params.k, 0u, lane);
  var held = hold(first, params.n, lane % TEAM, 0u, slices);
  var sums = vec4<f32>();
  for (var stage = 0u; stage < STAGES; stage++) {
    stage_share(share, lane, params.k);
    workgroupBarrier();
    var next = held;
    if (stage + 1u < STAGES) {
      share = share_of_x(row * params.k / 4u, params.k, stage + 1u, lane);
      next = hold(first, params.n, lane % TEAM, stage + 1u, slices);
    }
    sums = add_stage(sums, held, first, lane % TEAM, stage, slices);
    if (stage + 1u < STAGES) {
      held = next;
      workgroupBarrier();
    }
  }
  gather_lanes(sums, lane);
  if (lane < TEAMS * OUTPUTS && base + lane < params.n) {
    y[row * params.n + base + lane] = team_sum(lane);
  }
}

// A lane loads eight elements of one row of x and one word of one column of w, and makes rows 4·down and 64 + 4·down by columns 4·across
// and 64 + 4·across of the tile. Rows and columns past the last are the last, and not written. What is loaded is plain values: held in one
// struct, the same kernel took a fifth longer at k = 6144 (H200).
@compute @workgroup_size(256)
fn tile(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let across_tiles = (params.n + TILE - 1u) / TILE;
  let linear = linear_group(group, grid);
  let first_row = linear / across_tiles * TILE;
  let first_col = linear % across_tiles * TILE;
  if (first_row >= params.rows) {
    return;
  }
  let line = lane / 2u;
  let half = lane % 2u;
  let x_at = min(first_row + line, params.rows - 1u) * (params.k / 4u) + half * 2u;
  let pairs_at = min(first_col + line, params.n - 1u) * (params.k / 64u);
  let w_at = pairs_at * 8u + half;
  let across = lane % 16u;
  let down = lane / 16u;
  var near_near = mat4x4<f32>();
  var near_far = mat4x4<f32>();
  var far_near = mat4x4<f32>();
  var far_far = mat4x4<f32>();
  let steps = params.k / STEP;
  var low = x_vec4[x_at];
  var high = x_vec4[x_at + 1u];
  var word = codes[w_at];
  var pair = pairs_at;
  var scale_pair = scales[pair >> 1u];
  var bias_pair = biases[pair >> 1u];
  for (var step = 0u; step < steps; step++) {
    workgroupBarrier();
    let scale = bf16_half(scale_pair, pair);
    let bias = bf16_half(bias_pair, pair);
    // Element i of this lane's eight belongs to plane 8·half + i, place `line`.
    tile_x[half * 8u][line / 4u][line % 4u] = low.x;
    tile_x[half * 8u + 1u][line / 4u][line % 4u] = low.y;
    tile_x[half * 8u + 2u][line / 4u][line % 4u] = low.z;
    tile_x[half * 8u + 3u][line / 4u][line % 4u] = low.w;
    tile_x[half * 8u + 4u][line / 4u][line % 4u] = high.x;
    tile_x[half * 8u + 5u][line / 4u][line % 4u] = high.y;
    tile_x[half * 8u + 6u][line / 4u][line % 4u] = high.z;
    tile_x[half * 8u + 7u][line / 4u][line % 4u] = high.w;
    tile_w[half * 8u][line / 4u][line % 4u] = tile_weight(word, scale, bias);
    tile_w[half * 8u + 1u][line / 4u][line % 4u] = tile_weight(word >> 4u, scale, bias);
    tile_w[half * 8u + 2u][line / 4u][line % 4u] = tile_weight(word >> 8u, scale, bias);
    tile_w[half * 8u + 3u][line / 4u][line % 4u] = tile_weight(word >> 12u, scale, bias);
    tile_w[half * 8u + 4u][line / 4u][line % 4u] = tile_weight(word >> 16u, scale, bias);
    tile_w[half * 8u + 5u][line / 4u][line % 4u] = tile_weight(word >> 20u, scale, bias);
    tile_w[half * 8u + 6u][line / 4u][line % 4u] = tile_weight(word >> 24u, scale, bias);
    tile_w[half * 8u + 7u][line / 4u][line % 4u] = tile_weight(word >> 28u, scale, bias);
    workgroupBarrier();
    // The next step's loads are under way while this one is computed; the last loads its own again.
    let then = min(step + 1u, steps - 1u);
    low = x_vec4[x_at + then * 4u];
    high = x_vec4[x_at + then * 4u + 1u];
    word = codes[w_at + then * 2u];
    pair = pairs_at + then * STEP / 64u;
    scale_pair = scales[pair >> 1u];
    bias_pair = biases[pair >> 1u];
    // Four elements of k at once: their sixteen loads are under way before the first is used (H200: 31.8 against 26.0 TFLOP/s at k = 6144).
    for (var i = 0u; i < STEP; i += 4u) {
      let a0 = tile_x[i][down];
      let a0_far = tile_x[i][16u + down];
      let b0 = tile_w[i][across];
      let b0_far = tile_w[i][16u + across];
      let a1 = tile_x[i + 1u][down];
      let a1_far = tile_x[i + 1u][16u + down];
      let b1 = tile_w[i + 1u][across];
      let b1_far = tile_w[i + 1u][16u + across];
      let a2 = tile_x[i + 2u][down];
      let a2_far = tile_x[i + 2u][16u + down];
      let b2 = tile_w[i + 2u][across];
      let b2_far = tile_w[i + 2u][16u + across];
      let a3 = tile_x[i + 3u][down];
      let a3_far = tile_x[i + 3u][16u + down];
      let b3 = tile_w[i + 3u][across];
      let b3_far = tile_w[i + 3u][16u + across];
      near_near = outer(near_near, a0, b0);
      near_far = outer(near_far, a0, b0_far);
      far_near = outer(far_near, a0_far, b0);
      far_far = outer(far_far, a0_far, b0_far);
      near_near = outer(near_near, a1, b1);
      near_far = outer(near_far, a1, b1_far);
      far_near = outer(far_near, a1_far, b1);
      far_far = outer(far_far, a1_far, b1_far);
      near_near = outer(near_near, a2, b2);
      near_far = outer(near_far, a2, b2_far);
      far_near = outer(far_near, a2_far, b2);
      far_far = outer(far_far, a2_far, b2_far);
      near_near = outer(near_near, a3, b3);
      near_far = outer(near_far, a3, b3_far);
      far_near = outer(far_near, a3_far, b3);
      far_far = outer(far_far, a3_far, b3_far);
    }
  }
  let row = first_row + down * 4u;
  let column = first_col + across * 4u;
  write_block(row, column, near_near);
  write_block(row, column + 64u, near_far);
  write_block(row + 64u, column, far_near);
  write_block(row + 64u, column + 64u, far_far);
}
