// out[i] = half i & 1 of x[i / 2] as float32: every bf16 is one. A NaN is quieted and keeps its sign and payload.
//
// In integers throughout, since a driver may flush a subnormal or fold a NaN that travels as a float. One lane an element.

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn cast_bf16_f32(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = linear_group(group, grid) * 64u + lane;
  if (i >= params.count) {
    return;
  }
  let word = x[i >> 1u];
  let bits = select(word << 16u, word & 0xffff0000u, (i & 1u) == 1u);
  let nan = (bits & 0x7fffffffu) > 0x7f800000u;
  out[i] = select(bits, bits | 0x400000u, nan);
}
