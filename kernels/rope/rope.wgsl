// One lane writes one element of one head. No reduction: for a rotated element a product and an fma, said so that no compiler
// chooses which product is fused; a copy for the rest. A row whose position is past the table is written as zeros, never read out of bounds.
struct Params {
  rows: u32,
  heads: u32,
  headDim: u32,
  rotary: u32,
  context: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> table: array<f32>;
@group(0) @binding(2) var<storage, read> position: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= params.headDim) {
    return;
  }
  let row = id.z;
  let base = (row * params.heads + id.y) * params.headDim;
  let at = position[0] + row;
  if (at >= params.context) {
    out[base + i] = 0.0;
    return;
  }
  let half = params.rotary / 2u;
  let angle = at * params.rotary;
  let value = x[base + i];
  if (i < half) {
    out[base + i] = fma(value, table[angle + i], -(x[base + i + half] * table[angle + half + i]));
  } else if (i < params.rotary) {
    out[base + i] = fma(value, table[angle + i - half], x[base + i - half] * table[angle + i]);
  } else {
    out[base + i] = value;
  }
}
