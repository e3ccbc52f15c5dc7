// Merges what sdpa-split left of one token's attention and gates it: out = Σ_c e_c·sums_c / Σ_c e_c·l_c · sigmoid(gate) with
// e_c = exp(m_c − max m), over the chunks c that hold keys, in rising order. One lane an element; the e_c are made
// by one lane each. Depth: chunks + 3.
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
const LANES = 64u;

var<workgroup> tops: array<f32, LANES>;
// e_c and l_c of LANES chunks at a time; 0 past the last.
var<workgroup> weights: array<f32, LANES>;
var<workgroup> lengths: array<f32, LANES>;

struct Eight {
  near: vec4<f32>,
  far: vec4<f32>,
}

// sums of eight chunks from c on. Past the last chunk it is the last again, which is not added.
fn eight_sums(first: u32, c: u32, last: u32, element: u32) -> Eight {
  return Eight(
    vec4<f32>(
      sums[(first + min(c, last)) * params.headDim + element],
      sums[(first + min(c + 1u, last)) * params.headDim + element],
      sums[(first + min(c + 2u, last)) * params.headDim + element],
      sums[(first + min(c + 3u, last)) * params.headDim + element]
    ),
    vec4<f32>(
      sums[(first + min(c + 4u, last)) * params.headDim + element],
      sums[(first + min(c + 5u, last)) * params.headDim + element],
      sums[(first + min(c + 6u, last)) * params.headDim + element],
      sums[(first + min(c + 7u, last)) * params.headDim + element]
    )
  );
}

// Adds chunk c, whose sum is `value`, to the denominator and the numerator; past the last chunk 0 by no weight, and no branch between loads.
fn merged(both: vec2<f32>, c: u32, chunks: u32, value: f32) -> vec2<f32> {
  return fma(vec2<f32>(weights[c % LANES]), vec2<f32>(lengths[c % LANES], select(0.0, value, c < chunks)), both);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let head = group.y;
  let chunks = (min(position[0] + 1u, params.context) + KEYS - 1u) / KEYS;
  let first = head * params.chunks;
  let last = chunks - 1u;
  // Lanes past the head's width go along with its last element.
  let element = min(group.x * LANES + lane, params.headDim - 1u);
  // Loads of eight chunks are under way before they are used (at 33 chunks, loads of four by every lane took 3 of an H200's 6 µs).
  var next = eight_sums(first, 0u, last, element);
  var top = stats[first * 2u];
  for (var c = lane; c < chunks; c += LANES) {
    top = max(top, stats[(first + c) * 2u]);
  }
  tops[lane] = top;
  workgroupBarrier();
  // Lanes past the chunks hold the first one's, so that the loop is of known length.
  for (var i = 0u; i < LANES; i++) {
    top = max(top, tops[i]);
  }
  var both = vec2<f32>();
  for (var c = 0u; c < chunks; c += 8u) {
    if (c % LANES == 0u) {
      let own = (first + min(c + lane, last)) * 2u;
      workgroupBarrier();
      weights[lane] = select(0.0, exp(stats[own] - top), c + lane < chunks);
      lengths[lane] = select(0.0, stats[own + 1u], c + lane < chunks);
      workgroupBarrier();
    }
    let now = next;
    next = eight_sums(first, c + 8u, last, element);
    both = merged(both, c, chunks, now.near.x);
    both = merged(both, c + 1u, chunks, now.near.y);
    both = merged(both, c + 2u, chunks, now.near.z);
    both = merged(both, c + 3u, chunks, now.near.w);
    both = merged(both, c + 4u, chunks, now.far.x);
    both = merged(both, c + 5u, chunks, now.far.y);
    both = merged(both, c + 6u, chunks, now.far.z);
    both = merged(both, c + 7u, chunks, now.far.w);
  }
  if (group.x * LANES + lane < params.headDim) {
    let gate = qg[head * 2u * params.headDim + params.headDim + element];
    out[head * params.headDim + element] = both.y / both.x * sigmoid(gate);
  }
}
