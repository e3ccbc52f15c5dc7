// One lane computes both gates of one value head of one row. No reduction; g takes two exps, two quotients and an 8-term
// polynomial, beta one exp and one quotient.
struct Params {
  rows: u32,
  vHeads: u32,
  stride: u32,
  aOffset: u32,
  bOffset: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> aLog: array<f32>;
@group(0) @binding(3) var<storage, read> dtBias: array<f32>;
@group(0) @binding(4) var<storage, read_write> g: array<f32>;
@group(0) @binding(5) var<storage, read_write> beta: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= params.rows * params.vHeads) {
    return;
  }
  let head = i % params.vHeads;
  let base = i / params.vHeads * params.stride + head;
  g[i] = -exp(aLog[head]) * softplus(a[base + params.aOffset] + dtBias[head]);
  beta[i] = sigmoid(b[base + params.bOffset]);
}
