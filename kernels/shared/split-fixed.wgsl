// Sums of a slice in integers, for split-k.wgsl: family fixed. The 32 elements of x that a slice meets become integers X of one unit, a power
// of two by the largest: |X| ≤ 2^22, so x is within half a unit, at most 2^-22 of the largest. X has three signed digits to base 256, and
// digits meet codes four at a time (dot4I8Packed, one instruction where a device has it). Σ q·X is then exact: 15·32·2^22 < 2^31.
// Σ x stays in floats: eight elements by columns of four and pairs, then four eights in pairs.
// An element that is not finite makes its slice NaN.
//
// Word w of a slice's weights meets vectors 2w and 2w + 1 of staged: digits 2, 1, 0 of elements 0, 2, 4, 6, which are the low nibbles of
// its bytes; digits 2, 1, 0 of elements 1, 3, 5, 7; the unit; the sum of the eight.

// Digits 2, 1 and 0 of four integers, four bytes a word, from X + 0x808080: its bytes are those of the digits but for their signs.
fn digits(v: vec4<u32>) -> vec3<u32> {
  let outer_low = (v.x & 0x00ff00ffu) | ((v.y & 0x00ff00ffu) << 8u);
  let outer_high = (v.z & 0x00ff00ffu) | ((v.w & 0x00ff00ffu) << 8u);
  let inner_low = ((v.x >> 8u) & 0xffu) | (v.y & 0xff00u);
  let inner_high = ((v.z >> 8u) & 0xffu) | (v.w & 0xff00u);
  return vec3<u32>((outer_low >> 16u) | (outer_high & 0xffff0000u), (inner_low & 0xffffu) | (inner_high << 16u), (outer_low & 0xffffu) | (outer_high << 16u)) ^ vec3<u32>(0x80808080u);
}

// k, which is below 2^31, keeps from the compiler that elements may be products: Mesa would add one to another in a single rounding, and the
// chain, which has them from memory, in two.
fn stage_fixed(share: Share, lane: u32, k: u32) {
  let bits_a = bitcast<vec4<u32>>(share.a) | vec4<u32>(k >> 31u);
  let bits_b = bitcast<vec4<u32>>(share.b) | vec4<u32>(k >> 31u);
  let slice = lane / 4u;
  let word = lane % 4u;
  // Bits of floats without their signs are ordered as they are, infinities and NaN above.
  let sizes = max(bits_a & vec4<u32>(0x7fffffffu), bits_b & vec4<u32>(0x7fffffffu));
  // The largest of each eight goes through the memory of the lanes' sums, which nobody needs between a barrier after the last were read and
  // the next ones.
  lane_sums[slice / 8u][slice % 8u][word] = bitcast<f32>(max(max(sizes.x, sizes.y), max(sizes.z, sizes.w)));
  workgroupBarrier();
  let tops = bitcast<vec4<u32>>(vec4<f32>(lane_sums[slice / 8u][slice % 8u][0], lane_sums[slice / 8u][slice % 8u][1], lane_sums[slice / 8u][slice % 8u][2], lane_sums[slice / 8u][slice % 8u][3]));
  let top = max(max(tops.x, tops.y), max(tops.z, tops.w));
  // The largest has exponent e - 127 and becomes 2^21 and more; below 2^-105 the unit stays the smallest that is no subnormal.
  let e = max(top >> 23u, 22u);
  let scale = bitcast<f32>((275u - e) << 23u); // 2^(148 - e)
  // What is not finite shows in the unit alone, so that there is one NaN, whatever is added to what.
  let finite = e < 255u;
  let unit = select(0x7fc00000u, (e - 21u) << 23u, finite); // 2^(e - 148), or NaN
  // 1.5·2^23 + X is a float whose last bits are X: 0x4b400000 + X.
  let a = bitcast<vec4<u32>>(fma(share.a, vec4<f32>(scale), vec4<f32>(12582912.0))) + vec4<u32>(0xb5408080u);
  let b = bitcast<vec4<u32>>(fma(share.b, vec4<f32>(scale), vec4<f32>(12582912.0))) + vec4<u32>(0xb5408080u);
  let even = digits(vec4<u32>(a.x, a.z, b.x, b.z));
  let odd = digits(vec4<u32>(a.y, a.w, b.y, b.w));
  let columns = bitcast<vec4<f32>>(bits_a) + bitcast<vec4<f32>>(bits_b);
  staged[slice][word * 2u] = vec4<u32>(even, odd.x);
  staged[slice][word * 2u + 1u] = vec4<u32>(odd.yz, unit, bitcast<u32>(select(0.0, (columns.x + columns.y) + (columns.z + columns.w), finite)));
}

// Adds a word's eight products to the sums by digit.
fn add_fixed_word(sums: vec3<i32>, word: u32, a: vec4<u32>, b: vec4<u32>) -> vec3<i32> {
  let even = word & 0x0f0f0f0fu;
  let odd = (word >> 4u) & 0x0f0f0f0fu;
  return vec3<i32>(
    sums.x + dot4I8Packed(even, a.x) + dot4I8Packed(odd, a.w),
    sums.y + dot4I8Packed(even, a.y) + dot4I8Packed(odd, b.x),
    sums.z + dot4I8Packed(even, a.z) + dot4I8Packed(odd, b.y)
  );
}

fn by_digits(d: vec3<i32>) -> f32 {
  return f32((d.x * 256 + d.y) * 256 + d.z);
}

// add_slices in integers.
fn add_fixed(sums: vec4<f32>, s0: Slice, s1: Slice, s2: Slice, s3: Slice, staged_at: u32, at: u32, slices: u32) -> vec4<f32> {
  var d0 = vec3<i32>();
  var d1 = vec3<i32>();
  var d2 = vec3<i32>();
  var d3 = vec3<i32>();
  let a0 = staged[staged_at][0];
  let b0 = staged[staged_at][1];
  d0 = add_fixed_word(d0, s0.codes.x, a0, b0);
  if (OUTPUTS > 1u) {
    d1 = add_fixed_word(d1, s1.codes.x, a0, b0);
  }
  if (OUTPUTS > 2u) {
    d2 = add_fixed_word(d2, s2.codes.x, a0, b0);
    d3 = add_fixed_word(d3, s3.codes.x, a0, b0);
  }
  let a1 = staged[staged_at][2];
  let b1 = staged[staged_at][3];
  d0 = add_fixed_word(d0, s0.codes.y, a1, b1);
  if (OUTPUTS > 1u) {
    d1 = add_fixed_word(d1, s1.codes.y, a1, b1);
  }
  if (OUTPUTS > 2u) {
    d2 = add_fixed_word(d2, s2.codes.y, a1, b1);
    d3 = add_fixed_word(d3, s3.codes.y, a1, b1);
  }
  let a2 = staged[staged_at][4];
  let b2 = staged[staged_at][5];
  d0 = add_fixed_word(d0, s0.codes.z, a2, b2);
  if (OUTPUTS > 1u) {
    d1 = add_fixed_word(d1, s1.codes.z, a2, b2);
  }
  if (OUTPUTS > 2u) {
    d2 = add_fixed_word(d2, s2.codes.z, a2, b2);
    d3 = add_fixed_word(d3, s3.codes.z, a2, b2);
  }
  let a3 = staged[staged_at][6];
  let b3 = staged[staged_at][7];
  d0 = add_fixed_word(d0, s0.codes.w, a3, b3);
  if (OUTPUTS > 1u) {
    d1 = add_fixed_word(d1, s1.codes.w, a3, b3);
  }
  if (OUTPUTS > 2u) {
    d2 = add_fixed_word(d2, s2.codes.w, a3, b3);
    d3 = add_fixed_word(d3, s3.codes.w, a3, b3);
  }
  let unit = bitcast<f32>(b0.z);
  let total = (bitcast<f32>(b0.w) + bitcast<f32>(b1.w)) + (bitcast<f32>(b2.w) + bitcast<f32>(b3.w));
  var made = sums;
  made.x = add_slice(made.x, s0, at >> 1u, by_digits(d0) * unit, total);
  if (OUTPUTS > 1u) {
    made.y = add_slice(made.y, s1, (at + slices) >> 1u, by_digits(d1) * unit, total);
  }
  if (OUTPUTS > 2u) {
    made.z = add_slice(made.z, s2, (at + 2u * slices) >> 1u, by_digits(d2) * unit, total);
    made.w = add_slice(made.w, s3, (at + 3u * slices) >> 1u, by_digits(d3) * unit, total);
  }
  return made;
}
