// Merges what sdpa-split left of one token's attention and gates it: out = Σ_c e_c·sums_c / Σ_c e_c·l_c · sigmoid(gate) with
// e_c = exp(m_c − max m), over the chunks c that hold keys, in rising order. One lane an element. Depth: chunks + 3.
struct Params {
  heads: u32,
  headDim: u32,
  context: u32,
  chunks: u32,
}

@group(0) @binding(0) var<storage, read> sums: array<f32>;
@group(0) @binding(1) var<storage, read> stats: array<f32>;
@group(0) @binding(2) var<storage, read> qg: array<f32>;
@group(0) @binding(3) var<storage, read> position: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

const KEYS = 32u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.y;
  if (id.x >= params.headDim) {
    return;
  }
  let chunks = (min(position[0] + 1u, params.context) + KEYS - 1u) / KEYS;
  let first = head * params.chunks;
  var top = stats[first * 2u];
  for (var c = 1u; c < chunks; c++) {
    top = max(top, stats[(first + c) * 2u]);
  }
  var total = 0.0;
  var sum = 0.0;
  for (var c = 0u; c < chunks; c++) {
    let shrink = exp(stats[(first + c) * 2u] - top);
    total = fma(shrink, stats[(first + c) * 2u + 1u], total);
    sum = fma(shrink, sums[(first + c) * params.headDim + id.x], sum);
  }
  let gate = qg[head * 2u * params.headDim + params.headDim + id.x];
  out[head * params.headDim + id.x] = sum / total * sigmoid(gate);
}
