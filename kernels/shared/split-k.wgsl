// Matrix–vector products of family split-k: 32 lanes share an output, and every entry point that includes this adds alike.
// Lane l takes slices l, l + 32, … of 32 weights, in rising order. In a slice w = scale·q + bias has one scale and one bias, so that
// Σ x·w = scale·Σ q·x + bias·Σ x, and Σ q·x is gathered by place: the products of nibble j of each half word, with q·16^j instead
// of q, in rising order of half words; then by Horner's rule in 1/16, exact but for its additions. Of the 32 sums of the lanes,
// neighbours are added in fours, pair by pair, and the eight in rising order.
//
// A code becomes a float without a conversion from integer, a quarter of the rate of the rest on NVIDIA, in one of two ways:
//   2^23 + q·16^j has q at its place in the significand, and q·16^j is left when 2^23 is taken away;
//   HALVES: q at the end of a half is the subnormal q·2^-24, which becomes a float exactly, two codes for one mask (masks are a quarter
//     of the work otherwise). x is staged times 2^24, or 2^32 at places 2 and 3, so that products are q·16^j·x again, to the bit. WGSL
//     lets a device read such a half as 0: variants with HALVES are for devices where their contract holds, and tune compares them bit
//     for bit before it takes one.
// Nothing here is an array of a lane's own: what a compiler does not unroll, it puts into memory. Outputs are made side by side, word by
// word, since all 32 elements of a slice at once take registers that a further workgroup needs.

override OUTPUTS: u32 = 1u; // outputs of 32 lanes, 1, 2 or 4: x is read once for them
override STAGES: u32 = 1u; // ceil(k / STAGED). Known to the compiler, so that a row of one stage keeps no registers for a next one
override HALVES: u32 = 0u; // 1: codes pass through halves
const SPLIT_LANES = 256u;
const TEAM = 32u; // lanes an output
const TEAMS = 8u; // SPLIT_LANES / TEAM
const STAGED = 2048u; // elements of x in workgroup memory at a time: two slices a lane
const SLICES = 64u; // STAGED / 32

// A slice takes nine vectors, the ninth unused: at a stride of 36 floats the lanes of a load meet different banks.
var<workgroup> staged: array<array<vec4<f32>, 9>, 64>;
// The lanes' sums of each output in fours, nine to an output for the same reason.
var<workgroup> lane_sums: array<array<array<f32, 4>, 9>, 32>;
var<workgroup> eighths: array<array<f32, 8>, 32>;

// A lane's share of a stage of x: vectors lane and lane + SPLIT_LANES of it.
struct Share {
  a: vec4<f32>,
  b: vec4<f32>,
}

// Reads x_vec4, the row that starts at `base`. What lies past the row's end is the row's last, and nobody's. To be called before weights
// are loaded, whose way is longer.
fn share_of_x(base: u32, k: u32, stage: u32, lane: u32) -> Share {
  let at = stage * STAGED / 4u + lane;
  let last = k / 4u - 1u;
  var share: Share;
  share.a = x_vec4[base + min(at, last)];
  share.b = x_vec4[base + min(at + SPLIT_LANES, last)];
  return share;
}

// k, which is below 2^31, keeps the unit from the compiler: Mesa would multiply the norm by it before x, which rounds subnormals otherwise.
fn stage_share(share: Share, lane: u32, k: u32) {
  var in_unit = share;
  if (HALVES == 1u) {
    let unit = bitcast<vec4<f32>>(vec4<u32>(0x4b800000u, 0x4b800000u, 0x4f800000u, 0x4f800000u) | vec4<u32>(k >> 31u)); // 2^24 and 2^32
    in_unit = Share(share.a * unit, share.b * unit);
  }
  staged[lane / 8u][lane % 8u] = in_unit.a;
  staged[lane / 8u + SPLIT_LANES / 8u][lane % 8u] = in_unit.b;
}

// One slice of one output as it lies in memory. Nothing is done with it here: an operation on the first load would wait for it before the
// second is on its way.
struct Slice {
  codes: vec4<u32>,
  scales: u32,
  biases: u32,
}

// What a lane meets in one stage: slices a and b of each of its outputs.
struct Held {
  a0: Slice,
  b0: Slice,
  a1: Slice,
  b1: Slice,
  a2: Slice,
  b2: Slice,
  a3: Slice,
  b3: Slice,
}

// Reads codes_vec4, scales and biases.
fn load_slice(slice: u32, last: u32) -> Slice {
  let at = min(slice, last);
  return Slice(codes_vec4[at], scales[at >> 2u], biases[at >> 2u]);
}

// Loads what a lane needs of rows first … of W [n, 32·slices] for a stage. Slices past a row's end are the next row's, and those past W its
// last: sums of them are not made, or not written.
fn hold(first: u32, n: u32, lane: u32, stage: u32, slices: u32) -> Held {
  let last = n * slices - 1u;
  let a = first * slices + stage * SLICES + lane;
  let b = a + TEAM;
  var held: Held;
  held.a0 = load_slice(a, last);
  held.b0 = load_slice(b, last);
  if (OUTPUTS > 1u) {
    held.a1 = load_slice(a + slices, last);
    held.b1 = load_slice(b + slices, last);
  }
  if (OUTPUTS > 2u) {
    held.a2 = load_slice(a + 2u * slices, last);
    held.b2 = load_slice(b + 2u * slices, last);
    held.a3 = load_slice(a + 3u * slices, last);
    held.b3 = load_slice(b + 3u * slices, last);
  }
  return held;
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
fn add_word(places: vec4<f32>, word: u32, exponent: u32, low: vec4<f32>, high: vec4<f32>) -> vec4<f32> {
  return fma(high_codes(word, exponent), high, fma(low_codes(word, exponent), low, places));
}

// `pair` is the place of the slice's scale and bias among all: its parity says which half of the words they are. `total` is Σ x.
fn add_slice(sum: f32, s: Slice, pair: u32, places: vec4<f32>, total: f32) -> f32 {
  let dot = fma(fma(fma(places.w, 0.0625, places.z), 0.0625, places.y), 0.0625, places.x);
  return fma(bf16_half(s.scales, pair), dot, fma(bf16_half(s.biases, pair), total, sum));
}

// Adds one slice of each output to its sum: slice `staged_at` of the stage, which is slice `at` of W for the first output and `slices` on for
// each further one.
fn add_slices(sums: vec4<f32>, s0: Slice, s1: Slice, s2: Slice, s3: Slice, staged_at: u32, at: u32, slices: u32) -> vec4<f32> {
  // A row has fewer than 2^26 slices.
  let exponent = 0x4b000000u | (slices >> 26u);
  var p0 = vec4<f32>();
  var p1 = vec4<f32>();
  var p2 = vec4<f32>();
  var p3 = vec4<f32>();
  let x0 = staged[staged_at][0];
  let x1 = staged[staged_at][1];
  p0 = add_word(p0, s0.codes.x, exponent, x0, x1);
  if (OUTPUTS > 1u) {
    p1 = add_word(p1, s1.codes.x, exponent, x0, x1);
  }
  if (OUTPUTS > 2u) {
    p2 = add_word(p2, s2.codes.x, exponent, x0, x1);
    p3 = add_word(p3, s3.codes.x, exponent, x0, x1);
  }
  let x2 = staged[staged_at][2];
  let x3 = staged[staged_at][3];
  p0 = add_word(p0, s0.codes.y, exponent, x2, x3);
  if (OUTPUTS > 1u) {
    p1 = add_word(p1, s1.codes.y, exponent, x2, x3);
  }
  if (OUTPUTS > 2u) {
    p2 = add_word(p2, s2.codes.y, exponent, x2, x3);
    p3 = add_word(p3, s3.codes.y, exponent, x2, x3);
  }
  let x4 = staged[staged_at][4];
  let x5 = staged[staged_at][5];
  p0 = add_word(p0, s0.codes.z, exponent, x4, x5);
  if (OUTPUTS > 1u) {
    p1 = add_word(p1, s1.codes.z, exponent, x4, x5);
  }
  if (OUTPUTS > 2u) {
    p2 = add_word(p2, s2.codes.z, exponent, x4, x5);
    p3 = add_word(p3, s3.codes.z, exponent, x4, x5);
  }
  let x6 = staged[staged_at][6];
  let x7 = staged[staged_at][7];
  p0 = add_word(p0, s0.codes.w, exponent, x6, x7);
  if (OUTPUTS > 1u) {
    p1 = add_word(p1, s1.codes.w, exponent, x6, x7);
  }
  if (OUTPUTS > 2u) {
    p2 = add_word(p2, s2.codes.w, exponent, x6, x7);
    p3 = add_word(p3, s3.codes.w, exponent, x6, x7);
  }
  let unit = select(vec4<f32>(1.0), vec4<f32>(0x1p-24, 0x1p-24, 0x1p-32, 0x1p-32), HALVES == 1u);
  let by_place = (((((((x0 + x1) + x2) + x3) + x4) + x5) + x6) + x7) * unit;
  let total = (by_place.x + by_place.y) + (by_place.z + by_place.w);
  var made = sums;
  made.x = add_slice(made.x, s0, at >> 1u, p0, total);
  if (OUTPUTS > 1u) {
    made.y = add_slice(made.y, s1, (at + slices) >> 1u, p1, total);
  }
  if (OUTPUTS > 2u) {
    made.z = add_slice(made.z, s2, (at + 2u * slices) >> 1u, p2, total);
    made.w = add_slice(made.w, s3, (at + 3u * slices) >> 1u, p3, total);
  }
  return made;
}

// The sums of a lane's outputs, rows first … of W [n, 32·slices], with its slices of a stage.
fn add_stage(sums: vec4<f32>, held: Held, first: u32, lane: u32, stage: u32, slices: u32) -> vec4<f32> {
  var made = sums;
  let a = stage * SLICES + lane;
  if (a < slices) {
    made = add_slices(made, held.a0, held.a1, held.a2, held.a3, lane, first * slices + a, slices);
  }
  let b = a + TEAM;
  if (b < slices) {
    made = add_slices(made, held.b0, held.b1, held.b2, held.b3, lane + TEAM, first * slices + b, slices);
  }
  return made;
}

// Adds up what the lanes made. Afterwards lane o < TEAMS · OUTPUTS gets output o of the workgroup from team_sum(o).
fn gather_lanes(sums: vec4<f32>, lane: u32) {
  let first = lane / TEAM * OUTPUTS;
  let own = lane % TEAM / 4u;
  lane_sums[first][own][lane % 4u] = sums.x;
  if (OUTPUTS > 1u) {
    lane_sums[first + 1u][own][lane % 4u] = sums.y;
  }
  if (OUTPUTS > 2u) {
    lane_sums[first + 2u][own][lane % 4u] = sums.z;
    lane_sums[first + 3u][own][lane % 4u] = sums.w;
  }
  workgroupBarrier();
  if (lane < TEAMS * OUTPUTS * 8u) {
    let output = lane / 8u;
    let four = lane % 8u;
    eighths[output][four] = (lane_sums[output][four][0] + lane_sums[output][four][1]) + (lane_sums[output][four][2] + lane_sums[output][four][3]);
  }
  workgroupBarrier();
}

fn team_sum(output: u32) -> f32 {
  return ((((((eighths[output][0] + eighths[output][1]) + eighths[output][2]) + eighths[output][3]) + eighths[output][4]) + eighths[output][5]) + eighths[output][6]) + eighths[output][7];
}
