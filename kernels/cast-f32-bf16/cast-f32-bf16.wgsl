// Half i & 1 of out[i / 2] = the bf16 nearest to x[i], ties to even; a NaN is quieted and keeps its sign and upper payload.
//
// In integers throughout, since a driver may flush a subnormal or fold a NaN that travels as a float. One lane a pair; where
// count is odd the last upper half is 0.

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// Half a unit less one, and one more where the last kept bit is set: what is cut off then carries when it is more than half,
// or half of an odd one. Past the largest finite value the carry runs into the exponent and gives infinity, as it should.
fn rounded(bits: u32) -> u32 {
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return (bits >> 16u) | 0x40u;
  }
  return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}

@compute @workgroup_size(64)
fn cast_f32_bf16(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let pair = linear_group(group, grid) * 64u + lane;
  let i = pair * 2u;
  if (i >= params.count) {
    return;
  }
  var word = rounded(x[i]);
  if (i + 1u < params.count) {
    word |= rounded(x[i + 1u]) << 16u;
  }
  out[pair] = word;
}
