// out[row, i] = scale[id, i / 64] * q[id, i] + bias[id, i / 64] with id = ids[row] - first, which is outside from vocab on.
// An id outside gives a row of +0 where first is 0, and otherwise leaves its row alone, for another part of the table has it.
// One lane a word of eight codes.

struct Params {
  rows: u32,
  k: u32,
  vocab: u32,
  first: u32,
}

@group(0) @binding(0) var<storage, read> ids: array<u32>;
@group(0) @binding(1) var<storage, read> codes: array<u32>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
@group(0) @binding(3) var<storage, read> biases: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(64)
fn embed_q4(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let words = params.k / 8u;
  let index = linear_group(group, grid) * 64u + lane;
  let row = index / words;
  if (row >= params.rows) {
    return;
  }
  // An id before this part wraps around, past every vocab.
  let id = ids[row] - params.first;
  let place = index * 8u;
  if (id >= params.vocab) {
    if (params.first > 0u) {
      return;
    }
    for (var i = 0u; i < 8u; i++) {
      out[place + i] = 0.0;
    }
    return;
  }
  let column = index % words;
  let pair = id * (params.k / 64u) + column / 8u;
  let scale = bf16_half(scales[pair >> 1u], pair);
  let bias = bf16_half(biases[pair >> 1u], pair);
  let word = codes[id * words + column];
  for (var i = 0u; i < 8u; i++) {
    out[place + i] = fma(scale, f32((word >> (4u * i)) & 15u), bias);
  }
}
