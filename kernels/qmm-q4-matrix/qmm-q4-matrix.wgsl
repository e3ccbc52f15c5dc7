// y[row, col] = 2^-e[row] · sum over groups g of 64: scale·Σ (q − 8)·h + (bias + 8·scale)·s[row, g], on matrix units: 16-bit factors, f32 sums.
//
// No weight is rounded. scale·(q − 8) has 8 + 3 significant bits, which is what a half holds, once a column is scaled by a power of two so
// that its halves neither overflow nor vanish. What is left of a group, (bias + 8·scale)·s, is a product over k/64 more elements: both
// factors are split into two halves, and the four products of the halves are four elements of k. So k is the halves of x (of both their
// parts, where there are two, over the same weights), then 4·k/64 elements for the groups.
//
// A workgroup makes 128 rows by 128 columns. Both factors pass through workgroup memory, 64 elements of k at a time, those of the next
// step on their way while the matrix units work on these; each of eight subgroups of 32 makes 64 rows by 32 columns, 16 by 16 a matrix.

struct Params {
  rows: u32,
  n: u32,
  k: u32,
  parts: u32,
}

@group(0) @binding(0) var<storage, read> halves: array<u32>;
@group(0) @binding(1) var<storage, read> sums: array<f32>;
@group(0) @binding(2) var<storage, read> exponents: array<u32>;
@group(0) @binding(3) var<storage, read> codes: array<u32>;
@group(0) @binding(4) var<storage, read> scales: array<u32>;
@group(0) @binding(5) var<storage, read> biases: array<u32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
@group(0) @binding(7) var<uniform> params: Params;

// The same two buffers, sixteen bytes a load: eight halves, four words of codes.
@group(0) @binding(0) var<storage, read> halves_vec4: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> codes_vec4: array<vec4<u32>>;

const TILE = 128u;
const STEP = 64u; // elements of k in workgroup memory: one group of weights
const UNITS = 8u; // vectors of eight halves a line and step
const STRIDE = 9u; // vectors from line to line: neighbouring lines begin in other banks
const NOT_FINITE = 32767;

// Rows of x and columns of w, eight halves a vector. tile_x takes the results at the end.
var<workgroup> tile_x: array<vec4<u32>, 1152>; // TILE · STRIDE
var<workgroup> tile_w: array<vec4<u32>, 1152>;
var<workgroup> tops: array<vec2<u32>, 256>;
var<workgroup> column_exponents: array<i32, 128>;

fn group_scale(index: u32) -> f32 {
  return bf16_half(scales[index >> 1u], index);
}

fn group_bias(index: u32) -> f32 {
  return bf16_half(biases[index >> 1u], index);
}

// 2^e for e in [−126, 127].
fn power(e: i32) -> f32 {
  return bitcast<f32>(u32(e + 127) << 23u);
}

fn magnitude(value: f32) -> u32 {
  return bitcast<u32>(value) & 0x7fffffffu;
}

// The largest magnitudes, as bits, among the scales and biases of every eighth group from `g` on and the three after it.
fn top_of(base: u32, first: u32, groups: u32) -> vec2<u32> {
  var top = vec2<u32>();
  for (var g = first; g < groups; g += 8u) {
    let a = base + g;
    let b = base + min(g + 1u, groups - 1u);
    let c = base + min(g + 2u, groups - 1u);
    let d = base + min(g + 3u, groups - 1u);
    let s = max(max(magnitude(group_scale(a)), magnitude(group_scale(b))), max(magnitude(group_scale(c)), magnitude(group_scale(d))));
    let t = max(max(magnitude(group_bias(a)), magnitude(group_bias(b))), max(magnitude(group_bias(c)), magnitude(group_bias(d))));
    top = max(top, vec2<u32>(s, t));
  }
  return top;
}

// By what power of two a column is scaled: 64·|bias + 8·scale| is then below 2^15, and 8·|scale| below 2^8.
fn exponent_of(top: vec2<u32>) -> i32 {
  let most = max(i32(top.x >> 23u) + 3, i32(top.y >> 23u)) - 127;
  let finite = max(top.x, top.y) < 0x7f800000u;
  return select(NOT_FINITE, clamp(7 - most, -126, 126), finite);
}

// Eight weights of a word, elements 0 4, 1 5, 2 6, 3 7: 1024 + q is a half with q in its last bits, so that q is never converted.
fn weights8(word: u32, scale: vec2<f16>) -> vec4<u32> {
  let codes8 = (vec4<u32>(word, word >> 4u, word >> 8u, word >> 12u) & vec4<u32>(0x000f000fu)) | vec4<u32>(0x64006400u);
  let offset = vec2<f16>(1032.0h);
  return vec4<u32>(
    bitcast<u32>((bitcast<vec2<f16>>(codes8.x) - offset) * scale),
    bitcast<u32>((bitcast<vec2<f16>>(codes8.y) - offset) * scale),
    bitcast<u32>((bitcast<vec2<f16>>(codes8.z) - offset) * scale),
    bitcast<u32>((bitcast<vec2<f16>>(codes8.w) - offset) * scale));
}

// A value as the sum of two halves. The first is rounded on its bits: NVIDIA's compiler takes a float32 that went through a half and back for
// what it was, and leaves nothing for the second.
fn two_halves(value: f32) -> vec2<f16> {
  let bits = bitcast<u32>(value);
  let near = bitcast<f32>((bits + 0xfffu + ((bits >> 13u) & 1u)) & 0xffffe000u);
  return vec2<f16>(f16(near), f16(value - near));
}

// Two groups of a row, four elements each: a sum's halves, twice. Past the last group 0.
fn sums8(base: u32, g: u32, groups: u32) -> vec4<u32> {
  let a = bitcast<u32>(two_halves(select(0.0, sums[base + min(g, groups - 1u)] * 0.015625, g < groups)));
  let b = bitcast<u32>(two_halves(select(0.0, sums[base + min(g + 1u, groups - 1u)] * 0.015625, g + 1u < groups)));
  return vec4<u32>(a, a, b, b);
}

// Two groups of a column, four elements each: the first half twice, the second twice.
fn offsets8(base: u32, g: u32, groups: u32, up: f32) -> vec4<u32> {
  let at = base + min(g, groups - 1u);
  let next = base + min(g + 1u, groups - 1u);
  let a = two_halves(64.0 * fma(8.0, group_scale(at) * up, group_bias(at) * up));
  let b = two_halves(64.0 * fma(8.0, group_scale(next) * up, group_bias(next) * up));
  return vec4<u32>(bitcast<u32>(a.xx), bitcast<u32>(a.yy), bitcast<u32>(b.xx), bitcast<u32>(b.yy));
}

// Writes 16 by 16 results that lie in tile_x from vector `start` on. 2^t is applied in two halves, either of which a float32 holds.
fn write_results(start: u32, row: u32, column: u32, first_col: u32, lane: u32) {
  for (var i = lane; i < 256u; i += 32u) {
    let r = row + i / 16u;
    let c = column + i % 16u;
    if (r < params.rows && first_col + c < params.n) {
      let row_exponent = bitcast<i32>(exponents[r]);
      let column_exponent = column_exponents[c];
      let bad = row_exponent == NOT_FINITE || column_exponent == NOT_FINITE;
      let t = select(-(row_exponent + column_exponent), 0, bad);
      let made = bitcast<f32>(tile_x[start + i / 4u][i % 4u]) * power(t / 2) * power(t - t / 2);
      y[r * params.n + first_col + c] = bitcast<f32>(select(bitcast<u32>(made), 0x7fc00000u, bad));
    }
  }
}

@compute @workgroup_size(256)
fn matrix_tile(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
  @builtin(subgroup_id) subgroup_id: u32,
  @builtin(subgroup_invocation_id) lane_of_subgroup: u32,
) {
  let row_tiles = (params.rows + TILE - 1u) / TILE;
  let linear = linear_group(group, grid);
  let first_row = linear % row_tiles * TILE;
  let first_col = linear / row_tiles * TILE;
  if (first_col >= params.n) {
    return;
  }
  let groups = params.k / STEP;
  let wide = groups * params.parts;
  // A lane brings one vector of rows `line`, line + 32, … of x, and half a group of one column of w. Lines past the last are the last.
  let unit = lane % UNITS;
  let line = lane / UNITS;
  let row0 = min(first_row + line, params.rows - 1u);
  let row1 = min(first_row + line + 32u, params.rows - 1u);
  let row2 = min(first_row + line + 64u, params.rows - 1u);
  let row3 = min(first_row + line + 96u, params.rows - 1u);
  let put_x = line * STRIDE + unit;
  let column = lane / 2u;
  let side = lane % 2u;
  let pair0 = min(first_col + column, params.n - 1u) * groups;
  let put_w = column * STRIDE + side * 4u;
  let from0 = row0 * wide * UNITS + unit;
  let from1 = row1 * wide * UNITS + unit;
  let from2 = row2 * wide * UNITS + unit;
  let from3 = row3 * wide * UNITS + unit;
  var x0 = halves_vec4[from0];
  var x1 = halves_vec4[from1];
  var x2 = halves_vec4[from2];
  var x3 = halves_vec4[from3];
  var pair = pair0;
  var words = codes_vec4[pair0 * 2u + side];
  var scale = group_scale(pair0);
  tops[lane] = top_of(pair0, side * 4u, groups);
  workgroupBarrier();
  let column_exponent = exponent_of(max(tops[lane], tops[lane ^ 1u]));
  if (side == 0u) {
    column_exponents[column] = column_exponent;
  }
  let up = power(select(column_exponent, 0, column_exponent == NOT_FINITE));
  // Never more than 7. Said here, a compiler sees that no matrix lies outside of its array, and leaves out the test that Dawn puts before each load.
  let subgroup = min(subgroup_id, 7u);
  let left_at = subgroup / 4u * 64u * STRIDE;
  let right_at = subgroup % 4u * 32u * STRIDE;
  var near0: subgroup_matrix_result<f32, 16, 16>;
  var near1: subgroup_matrix_result<f32, 16, 16>;
  var near2: subgroup_matrix_result<f32, 16, 16>;
  var near3: subgroup_matrix_result<f32, 16, 16>;
  var far0: subgroup_matrix_result<f32, 16, 16>;
  var far1: subgroup_matrix_result<f32, 16, 16>;
  var far2: subgroup_matrix_result<f32, 16, 16>;
  var far3: subgroup_matrix_result<f32, 16, 16>;
  for (var step = 0u; step < wide + (groups + 15u) / 16u; step++) {
    if (step < wide) {
      tile_x[put_x] = x0;
      tile_x[put_x + 32u * STRIDE] = x1;
      tile_x[put_x + 64u * STRIDE] = x2;
      tile_x[put_x + 96u * STRIDE] = x3;
      let half = f16(scale * up);
      let both = vec2<f16>(half, half);
      tile_w[put_w] = weights8(words.x, both);
      tile_w[put_w + 1u] = weights8(words.y, both);
      tile_w[put_w + 2u] = weights8(words.z, both);
      tile_w[put_w + 3u] = weights8(words.w, both);
    } else {
      let g = (step - wide) * 16u;
      tile_x[put_x] = sums8(row0 * groups, g + unit * 2u, groups);
      tile_x[put_x + 32u * STRIDE] = sums8(row1 * groups, g + unit * 2u, groups);
      tile_x[put_x + 64u * STRIDE] = sums8(row2 * groups, g + unit * 2u, groups);
      tile_x[put_x + 96u * STRIDE] = sums8(row3 * groups, g + unit * 2u, groups);
      tile_w[put_w] = offsets8(pair0, g + side * 8u, groups, up);
      tile_w[put_w + 1u] = offsets8(pair0, g + side * 8u + 2u, groups, up);
      tile_w[put_w + 2u] = offsets8(pair0, g + side * 8u + 4u, groups, up);
      tile_w[put_w + 3u] = offsets8(pair0, g + side * 8u + 6u, groups, up);
    }
    workgroupBarrier();
    // The next step's loads are under way while this one is computed; the last loads its own again.
    let then = min(step + 1u, wide - 1u) * UNITS;
    x0 = halves_vec4[from0 + then];
    x1 = halves_vec4[from1 + then];
    x2 = halves_vec4[from2 + then];
    x3 = halves_vec4[from3 + then];
    // The second part of x meets the same weights once more.
    pair = select(pair + 1u, pair0, pair + 1u == pair0 + groups);
    words = codes_vec4[pair * 2u + side];
    scale = group_scale(pair);
    // Sixteen elements of k, four times; written out, since NVIDIA's compiler does not unroll it (278 against 160 µs).
    {
      let left0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at, STRIDE);
      let left1 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 16u * STRIDE, STRIDE);
      let left2 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 32u * STRIDE, STRIDE);
      let left3 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 48u * STRIDE, STRIDE);
      let near = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile_w, right_at, STRIDE);
      let far = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile_w, right_at + 16u * STRIDE, STRIDE);
      near0 = subgroupMatrixMultiplyAccumulate(left0, near, near0);
      far0 = subgroupMatrixMultiplyAccumulate(left0, far, far0);
      near1 = subgroupMatrixMultiplyAccumulate(left1, near, near1);
      far1 = subgroupMatrixMultiplyAccumulate(left1, far, far1);
      near2 = subgroupMatrixMultiplyAccumulate(left2, near, near2);
      far2 = subgroupMatrixMultiplyAccumulate(left2, far, far2);
      near3 = subgroupMatrixMultiplyAccumulate(left3, near, near3);
      far3 = subgroupMatrixMultiplyAccumulate(left3, far, far3);
    }
    {
      let left0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 2u, STRIDE);
      let left1 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 16u * STRIDE + 2u, STRIDE);
      let left2 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 32u * STRIDE + 2u, STRIDE);
      let left3 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 48u * STRIDE + 2u, STRIDE);
      let near = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile_w, right_at + 2u, STRIDE);
      let far = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile_w, right_at + 16u * STRIDE + 2u, STRIDE);
      near0 = subgroupMatrixMultiplyAccumulate(left0, near, near0);
      far0 = subgroupMatrixMultiplyAccumulate(left0, far, far0);
      near1 = subgroupMatrixMultiplyAccumulate(left1, near, near1);
      far1 = subgroupMatrixMultiplyAccumulate(left1, far, far1);
      near2 = subgroupMatrixMultiplyAccumulate(left2, near, near2);
      far2 = subgroupMatrixMultiplyAccumulate(left2, far, far2);
      near3 = subgroupMatrixMultiplyAccumulate(left3, near, near3);
      far3 = subgroupMatrixMultiplyAccumulate(left3, far, far3);
    }
    {
      let left0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 4u, STRIDE);
      let left1 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 16u * STRIDE + 4u, STRIDE);
      let left2 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 32u * STRIDE + 4u, STRIDE);
      let left3 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 48u * STRIDE + 4u, STRIDE);
      let near = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile_w, right_at + 4u, STRIDE);
      let far = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile_w, right_at + 16u * STRIDE + 4u, STRIDE);
      near0 = subgroupMatrixMultiplyAccumulate(left0, near, near0);
      far0 = subgroupMatrixMultiplyAccumulate(left0, far, far0);
      near1 = subgroupMatrixMultiplyAccumulate(left1, near, near1);
      far1 = subgroupMatrixMultiplyAccumulate(left1, far, far1);
      near2 = subgroupMatrixMultiplyAccumulate(left2, near, near2);
      far2 = subgroupMatrixMultiplyAccumulate(left2, far, far2);
      near3 = subgroupMatrixMultiplyAccumulate(left3, near, near3);
      far3 = subgroupMatrixMultiplyAccumulate(left3, far, far3);
    }
    {
      let left0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 6u, STRIDE);
      let left1 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 16u * STRIDE + 6u, STRIDE);
      let left2 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 32u * STRIDE + 6u, STRIDE);
      let left3 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile_x, left_at + 48u * STRIDE + 6u, STRIDE);
      let near = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile_w, right_at + 6u, STRIDE);
      let far = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile_w, right_at + 16u * STRIDE + 6u, STRIDE);
      near0 = subgroupMatrixMultiplyAccumulate(left0, near, near0);
      far0 = subgroupMatrixMultiplyAccumulate(left0, far, far0);
      near1 = subgroupMatrixMultiplyAccumulate(left1, near, near1);
      far1 = subgroupMatrixMultiplyAccumulate(left1, far, far1);
      near2 = subgroupMatrixMultiplyAccumulate(left2, near, near2);
      far2 = subgroupMatrixMultiplyAccumulate(left2, far, far2);
      near3 = subgroupMatrixMultiplyAccumulate(left3, near, near3);
      far3 = subgroupMatrixMultiplyAccumulate(left3, far, far3);
    }
    workgroupBarrier();
  }
  // Two matrices of a subgroup at a time, side by side in 128 vectors of its own.
  let out = subgroup * 128u;
  let row = first_row + subgroup / 4u * 64u;
  let across = subgroup % 4u * 32u;
  subgroupMatrixStore<row_major>(&tile_x, out, near0, 4u);
  subgroupMatrixStore<row_major>(&tile_x, out + 64u, far0, 4u);
  workgroupBarrier();
  write_results(out, row, across, first_col, lane_of_subgroup);
  write_results(out + 64u, row, across + 16u, first_col, lane_of_subgroup);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&tile_x, out, near1, 4u);
  subgroupMatrixStore<row_major>(&tile_x, out + 64u, far1, 4u);
  workgroupBarrier();
  write_results(out, row + 16u, across, first_col, lane_of_subgroup);
  write_results(out + 64u, row + 16u, across + 16u, first_col, lane_of_subgroup);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&tile_x, out, near2, 4u);
  subgroupMatrixStore<row_major>(&tile_x, out + 64u, far2, 4u);
  workgroupBarrier();
  write_results(out, row + 32u, across, first_col, lane_of_subgroup);
  write_results(out + 64u, row + 32u, across + 16u, first_col, lane_of_subgroup);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&tile_x, out, near3, 4u);
  subgroupMatrixStore<row_major>(&tile_x, out + 64u, far3, 4u);
  workgroupBarrier();
  write_results(out, row + 48u, across, first_col, lane_of_subgroup);
  write_results(out + 64u, row + 48u, across + 16u, first_col, lane_of_subgroup);
}
