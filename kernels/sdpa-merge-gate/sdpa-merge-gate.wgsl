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
  let last = chunks - 1u;
  // Loads of four chunks are under way before one is used (at 33 chunks one after the other took 9 µs of an H200's 11). Past the last
  // chunk it is the last again, which moves no maximum, and is not added.
  var top = stats[first * 2u];
  for (var c = 1u; c < chunks; c += 4u) {
    let m0 = stats[(first + c) * 2u];
    let m1 = stats[(first + min(c + 1u, last)) * 2u];
    let m2 = stats[(first + min(c + 2u, last)) * 2u];
    let m3 = stats[(first + min(c + 3u, last)) * 2u];
    top = max(max(max(max(top, m0), m1), m2), m3);
  }
  var total = 0.0;
  var sum = 0.0;
  for (var c = 0u; c < chunks; c += 4u) {
    let c0 = first + c;
    let c1 = first + min(c + 1u, last);
    let c2 = first + min(c + 2u, last);
    let c3 = first + min(c + 3u, last);
    let e0 = exp(stats[c0 * 2u] - top);
    let e1 = exp(stats[c1 * 2u] - top);
    let e2 = exp(stats[c2 * 2u] - top);
    let e3 = exp(stats[c3 * 2u] - top);
    let l0 = stats[c0 * 2u + 1u];
    let l1 = stats[c1 * 2u + 1u];
    let l2 = stats[c2 * 2u + 1u];
    let l3 = stats[c3 * 2u + 1u];
    let s0 = sums[c0 * params.headDim + id.x];
    let s1 = sums[c1 * params.headDim + id.x];
    let s2 = sums[c2 * params.headDim + id.x];
    let s3 = sums[c3 * params.headDim + id.x];
    total = fma(e0, l0, total);
    sum = fma(e0, s0, sum);
    if (c + 1u < chunks) {
      total = fma(e1, l1, total);
      sum = fma(e1, s1, sum);
    }
    if (c + 2u < chunks) {
      total = fma(e2, l2, total);
      sum = fma(e2, s2, sum);
    }
    if (c + 3u < chunks) {
      total = fma(e3, l3, total);
      sum = fma(e3, s3, sum);
    }
  }
  let gate = qg[head * 2u * params.headDim + params.headDim + id.x];
  out[head * params.headDim + id.x] = sum / total * sigmoid(gate);
}
