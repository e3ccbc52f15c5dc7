// One lane writes one element. No reduction: one exp, one sum, one quotient and one product for each element.
struct Params {
  rows: u32,
  heads: u32,
  headDim: u32,
  rowStride: u32,
  headStride: u32,
  gateOffset: u32,
}

@group(0) @binding(0) var<storage, read> attn: array<f32>;
@group(0) @binding(1) var<storage, read> qg: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= params.headDim) {
    return;
  }
  let at = (id.z * params.heads + id.y) * params.headDim + i;
  let gate = qg[id.z * params.rowStride + id.y * params.headStride + params.gateOffset + i];
  out[at] = attn[at] * sigmoid(gate);
}
