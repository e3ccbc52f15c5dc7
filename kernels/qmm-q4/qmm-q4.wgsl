// y[row, col] = sum over i of x[row, i] * (scale[col, i / 64] * q[col, i] + bias[col, i / 64])
//
// Family serial-k: one lane computes one output and adds its k products in the order 0 .. k-1, starting from +0, each as
// fma(x, w, sum). Both entry points call `dot8` for every word, so they round alike and their outputs are byte-identical.

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

// One product. 4-bit code times bf16 scale is exact in f32, so w has a single rounding, fused or not. The code is converted as
// a signed integer, which x86 does in one instruction (SwiftShader: 1.18 ms became 0.74 for 768 columns of 256).
fn step(sum: f32, code: u32, scale: f32, bias: f32, value: f32) -> f32 {
  return fma(value, fma(scale, f32(i32(code & 15u)), bias), sum);
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
