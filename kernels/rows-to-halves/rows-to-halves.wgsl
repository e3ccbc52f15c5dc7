// Rows of float32 as 16-bit floats for matrix units. Row r is taken times 2^e, with e so that its largest magnitude lies in [2^14, 2^15):
// no half overflows, whatever the row holds. Everything is done on bits, so that no driver's rounding has a say.
//   halves     part 0: each element rounded to 11 bits, ties to even; part 1, where there are two: what that left, rounded alike
//   exponents  e as an i32, or NOT_FINITE for a row with a NaN or an infinity: its halves and sums are 0
//   sums       the scaled row summed by 64 elements, before any rounding to halves
// A workgroup takes one row. Elements i of eight go to place (i % 4)·2 + i / 4, the order in which a word of codes is unpacked two by two.

struct Params {
  rows: u32,
  k: u32,
  parts: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> halves: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;
@group(0) @binding(3) var<storage, read_write> exponents: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

// The same buffers, sixteen bytes a load and store.
@group(0) @binding(0) var<storage, read> x_vec4: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> halves_vec4: array<vec4<u32>>;

const LANES = 256u;
const NOT_FINITE = 32767u;

var<workgroup> largest: array<u32, LANES>;
var<workgroup> eighths: array<f32, LANES>;

// x · 2^e as bits; 0 for what is not normal. No normal x overflows, since e was chosen for the largest.
fn scaled(bits: u32, e: i32) -> u32 {
  let exponent = i32((bits >> 23u) & 255u);
  let moved = exponent + e;
  let kept = (bits & 0x807fffffu) | (u32(max(moved, 0)) << 23u);
  return select(kept, bits & 0x80000000u, exponent == 0 || moved < 1);
}

// A float32 rounded to the 11 bits of a half, as a float32; 0 below 2^-14, the smallest normal half.
fn rounded(bits: u32) -> u32 {
  let nearest = (bits + 0xfffu + ((bits >> 13u) & 1u)) & 0xffffe000u;
  return select(nearest, bits & 0x80000000u, (bits & 0x7f800000u) < 0x38800000u);
}

// The half of a float32 that is one. Zeros lose their sign: a driver may give a difference of nothing either.
fn half_bits(bits: u32) -> u32 {
  let magnitude = bits & 0x7fffffffu;
  return select(((bits >> 16u) & 0x8000u) | ((magnitude >> 13u) - 0x1c000u), 0u, magnitude == 0u);
}

fn pair(low: u32, high: u32) -> u32 {
  return half_bits(low) | (half_bits(high) << 16u);
}

fn rest(value: u32, near: u32) -> u32 {
  return rounded(bitcast<u32>(bitcast<f32>(value) - bitcast<f32>(near)));
}

// The larger magnitude of two.
fn larger(found: u32, bits: vec4<u32>) -> u32 {
  let magnitudes = bits & vec4<u32>(0x7fffffffu);
  return max(found, max(max(magnitudes.x, magnitudes.y), max(magnitudes.z, magnitudes.w)));
}

@compute @workgroup_size(256)
fn to_halves(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = linear_group(group, grid);
  if (row >= params.rows) {
    return;
  }
  let eights = params.k / 8u;
  let base = row * eights * 2u;
  var found = 0u;
  for (var i = lane; i < eights * 2u; i += LANES) {
    found = larger(found, x_vec4[base + i]);
  }
  largest[lane] = found;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      largest[lane] = max(largest[lane], largest[lane + half]);
    }
    workgroupBarrier();
  }
  let top = largest[0] >> 23u;
  // A row of nothing but subnormals is one of zeros.
  let e = select(min(141 - i32(top), 126), 0, top == 0u);
  let finite = top != 255u;
  if (lane == 0u) {
    exponents[row] = select(NOT_FINITE, bitcast<u32>(e), finite);
  }
  for (var start = 0u; start < eights; start += LANES) {
    let at = start + lane;
    let live = at < eights;
    let first = base + min(at, eights - 1u) * 2u;
    let a = x_vec4[first];
    let b = x_vec4[first + 1u];
    let zero = !finite || !live;
    let v0 = select(scaled(a.x, e), 0u, zero);
    let v1 = select(scaled(a.y, e), 0u, zero);
    let v2 = select(scaled(a.z, e), 0u, zero);
    let v3 = select(scaled(a.w, e), 0u, zero);
    let v4 = select(scaled(b.x, e), 0u, zero);
    let v5 = select(scaled(b.y, e), 0u, zero);
    let v6 = select(scaled(b.z, e), 0u, zero);
    let v7 = select(scaled(b.w, e), 0u, zero);
    let low = (bitcast<f32>(v0) + bitcast<f32>(v1)) + (bitcast<f32>(v2) + bitcast<f32>(v3));
    let high = (bitcast<f32>(v4) + bitcast<f32>(v5)) + (bitcast<f32>(v6) + bitcast<f32>(v7));
    eighths[lane] = low + high;
    if (live) {
      let out = row * params.parts * eights + at;
      let n0 = rounded(v0);
      let n1 = rounded(v1);
      let n2 = rounded(v2);
      let n3 = rounded(v3);
      let n4 = rounded(v4);
      let n5 = rounded(v5);
      let n6 = rounded(v6);
      let n7 = rounded(v7);
      halves_vec4[out] = vec4<u32>(pair(n0, n4), pair(n1, n5), pair(n2, n6), pair(n3, n7));
      if (params.parts == 2u) {
        let left = pair(rest(v3, n3), rest(v7, n7));
        halves_vec4[out + eights] = vec4<u32>(pair(rest(v0, n0), rest(v4, n4)), pair(rest(v1, n1), rest(v5, n5)), pair(rest(v2, n2), rest(v6, n6)), left);
      }
    }
    workgroupBarrier();
    if (live && lane % 8u == 0u) {
      var sum = eighths[lane];
      for (var i = 1u; i < 8u; i++) {
        sum += eighths[lane + i];
      }
      sums[row * (eights / 8u) + at / 8u] = sum;
    }
    workgroupBarrier();
  }
}
