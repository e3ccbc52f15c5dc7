// Sums of a slice in floats, for split-k.wgsl: family split-k. Σ q·x is gathered by place: the products of nibble j of each half word, with
// q·16^j instead of q, in rising order of half words; then by Horner's rule in 1/16, exact but for its additions.
//
// A code becomes a float without a conversion from integer, a quarter of the rate of the rest on NVIDIA, in one of two ways:
//   2^23 + q·16^j has q at its place in the significand, and q·16^j is left when 2^23 is taken away;
//   HALVES: q at the end of a half is the subnormal q·2^-24, which becomes a float exactly, two codes for one mask (masks are a quarter
//     of the work otherwise). x is staged times 2^24, or 2^32 at places 2 and 3, so that products are q·16^j·x again, to the bit. WGSL
//     lets a device read such a half as 0: variants with HALVES are for devices where their contract holds, and tune compares them bit
//     for bit before it takes one.

override HALVES: u32 = 0u; // 1: codes pass through halves

// k, which is below 2^31, keeps the unit from the compiler: Mesa would multiply the norm by it before x, which rounds subnormals otherwise.
fn stage_floats(share: Share, lane: u32, k: u32) {
  var in_unit = share;
  if (HALVES == 1u) {
    let unit = bitcast<vec4<f32>>(vec4<u32>(0x4b800000u, 0x4b800000u, 0x4f800000u, 0x4f800000u) | vec4<u32>(k >> 31u)); // 2^24 and 2^32
    in_unit = Share(share.a * unit, share.b * unit);
  }
  staged[lane / 4u][lane % 4u * 2u] = bitcast<vec4<u32>>(in_unit.a);
  staged[lane / 4u][lane % 4u * 2u + 1u] = bitcast<vec4<u32>>(in_unit.b);
}

// The codes of a word's low half: q·16^j at places j = 0 … 3, or with HALVES q, 16q, q, 16q times 2^-24. `exponent` is that of 2^23 and
// unknown to the compiler: a constant beside the masks costs NVIDIA an instruction more for every code.
fn low_codes(word: u32, exponent: u32) -> vec4<f32> {
  if (HALVES == 1u) {
    let next = word >> 8u;
    return vec4<f32>(
      unpack2x16float(word & 0x000f000fu).x,
      unpack2x16float(word & 0x00f000f0u).x,
      unpack2x16float(next & 0x000f000fu).x,
      unpack2x16float(next & 0x00f000f0u).x
    );
  }
  return bitcast<vec4<f32>>((vec4<u32>(word) & vec4<u32>(0xfu, 0xf0u, 0xf00u, 0xf000u)) | vec4<u32>(exponent)) - vec4<f32>(8388608.0);
}

// The same of its high half.
fn high_codes(word: u32, exponent: u32) -> vec4<f32> {
  if (HALVES == 1u) {
    let next = word >> 8u;
    return vec4<f32>(
      unpack2x16float(word & 0x000f000fu).y,
      unpack2x16float(word & 0x00f000f0u).y,
      unpack2x16float(next & 0x000f000fu).y,
      unpack2x16float(next & 0x00f000f0u).y
    );
  }
  return low_codes(word >> 16u, exponent);
}

// Adds a word's eight products to the sums by place.
fn add_float_word(places: vec4<f32>, word: u32, exponent: u32, low: vec4<f32>, high: vec4<f32>) -> vec4<f32> {
  return fma(high_codes(word, exponent), high, fma(low_codes(word, exponent), low, places));
}

fn horner(places: vec4<f32>) -> f32 {
  return fma(fma(fma(places.w, 0.0625, places.z), 0.0625, places.y), 0.0625, places.x);
}

// add_slices in floats.
fn add_floats(sums: vec4<f32>, s0: Slice, s1: Slice, s2: Slice, s3: Slice, staged_at: u32, at: u32, slices: u32) -> vec4<f32> {
  // A row has fewer than 2^26 slices.
  let exponent = 0x4b000000u | (slices >> 26u);
  var p0 = vec4<f32>();
  var p1 = vec4<f32>();
  var p2 = vec4<f32>();
  var p3 = vec4<f32>();
  let x0 = bitcast<vec4<f32>>(staged[staged_at][0]);
  let x1 = bitcast<vec4<f32>>(staged[staged_at][1]);
  p0 = add_float_word(p0, s0.codes.x, exponent, x0, x1);
  if (OUTPUTS > 1u) {
    p1 = add_float_word(p1, s1.codes.x, exponent, x0, x1);
  }
  if (OUTPUTS > 2u) {
    p2 = add_float_word(p2, s2.codes.x, exponent, x0, x1);
    p3 = add_float_word(p3, s3.codes.x, exponent, x0, x1);
  }
  let x2 = bitcast<vec4<f32>>(staged[staged_at][2]);
  let x3 = bitcast<vec4<f32>>(staged[staged_at][3]);
  p0 = add_float_word(p0, s0.codes.y, exponent, x2, x3);
  if (OUTPUTS > 1u) {
    p1 = add_float_word(p1, s1.codes.y, exponent, x2, x3);
  }
  if (OUTPUTS > 2u) {
    p2 = add_float_word(p2, s2.codes.y, exponent, x2, x3);
    p3 = add_float_word(p3, s3.codes.y, exponent, x2, x3);
  }
  let x4 = bitcast<vec4<f32>>(staged[staged_at][4]);
  let x5 = bitcast<vec4<f32>>(staged[staged_at][5]);
  p0 = add_float_word(p0, s0.codes.z, exponent, x4, x5);
  if (OUTPUTS > 1u) {
    p1 = add_float_word(p1, s1.codes.z, exponent, x4, x5);
  }
  if (OUTPUTS > 2u) {
    p2 = add_float_word(p2, s2.codes.z, exponent, x4, x5);
    p3 = add_float_word(p3, s3.codes.z, exponent, x4, x5);
  }
  let x6 = bitcast<vec4<f32>>(staged[staged_at][6]);
  let x7 = bitcast<vec4<f32>>(staged[staged_at][7]);
  p0 = add_float_word(p0, s0.codes.w, exponent, x6, x7);
  if (OUTPUTS > 1u) {
    p1 = add_float_word(p1, s1.codes.w, exponent, x6, x7);
  }
  if (OUTPUTS > 2u) {
    p2 = add_float_word(p2, s2.codes.w, exponent, x6, x7);
    p3 = add_float_word(p3, s3.codes.w, exponent, x6, x7);
  }
  let unit = select(vec4<f32>(1.0), vec4<f32>(0x1p-24, 0x1p-24, 0x1p-32, 0x1p-32), HALVES == 1u);
  let by_place = (((((((x0 + x1) + x2) + x3) + x4) + x5) + x6) + x7) * unit;
  let total = (by_place.x + by_place.y) + (by_place.z + by_place.w);
  var made = sums;
  made.x = add_slice(made.x, s0, at >> 1u, horner(p0), total);
  if (OUTPUTS > 1u) {
    made.y = add_slice(made.y, s1, (at + slices) >> 1u, horner(p1), total);
  }
  if (OUTPUTS > 2u) {
    made.z = add_slice(made.z, s2, (at + 2u * slices) >> 1u, horner(p2), total);
    made.w = add_slice(made.w, s3, (at + 3u * slices) >> 1u, horner(p3), total);
  }
  return made;
}
