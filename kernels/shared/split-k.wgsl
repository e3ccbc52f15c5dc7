// Matrix–vector products of family split-k: 32 lanes share an output, and every entry point that includes this adds alike.
// Lane l takes slices l, l + 32, … of 32 weights, in rising order. In a slice w = scale·q + bias has one scale and one bias, so that
// Σ x·w = scale·Σ q·x + bias·Σ x, and Σ q·x is gathered by nibble: the products of nibble j of each half word, with q·16^j instead
// of q, in rising order of words; low halves plus high halves; then by Horner's rule in 1/16, exact but for its additions. Of the 32
// sums of the lanes, neighbours are added in fours, pair by pair, and the eight in rising order.
// q·16^j is exact in a float: 2^23 + q·16^j has q at its place in the significand, so that neither a shift nor a conversion from
// integer is needed (a quarter of the rate of the rest on NVIDIA). Nothing here is an array of a lane's own: what a compiler does not
// unroll, it puts into memory.

override OUTPUTS: u32 = 1u; // outputs of 32 lanes, 1, 2 or 4: x is read once for them
override STAGES: u32 = 1u; // ceil(k / STAGED). Known to the compiler, so that a row of one stage keeps no registers for a next one
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

fn stage_share(share: Share, lane: u32) {
  staged[lane / 8u][lane % 8u] = share.a;
  staged[lane / 8u + SPLIT_LANES / 8u][lane % 8u] = share.b;
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

// q·16^j of the four lowest nibbles of a word.
fn nibbles(word: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>((vec4<u32>(word) & vec4<u32>(0xfu, 0xf0u, 0xf00u, 0xf000u)) | vec4<u32>(0x4b000000u)) - vec4<f32>(8388608.0);
}

// The 32 elements of x that a slice meets, and their sum.
struct Elements {
  x0: vec4<f32>,
  x1: vec4<f32>,
  x2: vec4<f32>,
  x3: vec4<f32>,
  x4: vec4<f32>,
  x5: vec4<f32>,
  x6: vec4<f32>,
  x7: vec4<f32>,
  sum: f32,
}

// `slice` of this stage.
fn elements(slice: u32) -> Elements {
  var e: Elements;
  e.x0 = staged[slice][0];
  e.x1 = staged[slice][1];
  e.x2 = staged[slice][2];
  e.x3 = staged[slice][3];
  e.x4 = staged[slice][4];
  e.x5 = staged[slice][5];
  e.x6 = staged[slice][6];
  e.x7 = staged[slice][7];
  let total = ((((((e.x0 + e.x1) + e.x2) + e.x3) + e.x4) + e.x5) + e.x6) + e.x7;
  e.sum = (total.x + total.y) + (total.z + total.w);
  return e;
}

// `pair` is the place of the slice's scale and bias among all: its parity says which half of the words they are.
fn add_slice(sum: f32, s: Slice, pair: u32, e: Elements) -> f32 {
  var low = nibbles(s.codes.x) * e.x0;
  var high = nibbles(s.codes.x >> 16u) * e.x1;
  low = fma(nibbles(s.codes.y), e.x2, low);
  high = fma(nibbles(s.codes.y >> 16u), e.x3, high);
  low = fma(nibbles(s.codes.z), e.x4, low);
  high = fma(nibbles(s.codes.z >> 16u), e.x5, high);
  low = fma(nibbles(s.codes.w), e.x6, low);
  high = fma(nibbles(s.codes.w >> 16u), e.x7, high);
  let by_place = low + high;
  let dot = fma(fma(fma(by_place.w, 0.0625, by_place.z), 0.0625, by_place.y), 0.0625, by_place.x);
  return fma(bf16_half(s.scales, pair), dot, fma(bf16_half(s.biases, pair), e.sum, sum));
}

// The sums of a lane's outputs, rows first … of W [n, 32·slices], with its slices of a stage.
fn add_stage(sums: vec4<f32>, held: Held, first: u32, lane: u32, stage: u32, slices: u32) -> vec4<f32> {
  var made = sums;
  let row0 = first * slices;
  let row1 = row0 + slices;
  let row2 = row1 + slices;
  let row3 = row2 + slices;
  let a = stage * SLICES + lane;
  if (a < slices) {
    let e = elements(lane);
    made.x = add_slice(made.x, held.a0, (row0 + a) >> 1u, e);
    if (OUTPUTS > 1u) {
      made.y = add_slice(made.y, held.a1, (row1 + a) >> 1u, e);
    }
    if (OUTPUTS > 2u) {
      made.z = add_slice(made.z, held.a2, (row2 + a) >> 1u, e);
      made.w = add_slice(made.w, held.a3, (row3 + a) >> 1u, e);
    }
  }
  let b = a + TEAM;
  if (b < slices) {
    let e = elements(lane + TEAM);
    made.x = add_slice(made.x, held.b0, (row0 + b) >> 1u, e);
    if (OUTPUTS > 1u) {
      made.y = add_slice(made.y, held.b1, (row1 + b) >> 1u, e);
    }
    if (OUTPUTS > 2u) {
      made.z = add_slice(made.z, held.b2, (row2 + b) >> 1u, e);
      made.w = add_slice(made.w, held.b3, (row3 + b) >> 1u, e);
    }
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
