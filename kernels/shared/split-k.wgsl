// Matrix–vector products of one row, k split over lanes: 32 lanes share an output, and every entry point that includes this adds alike.
// Lane l takes slices l, l + 32, … of 32 weights, in rising order. In a slice w = scale·q + bias has one scale and one bias, so that
// Σ x·w = scale·Σ q·x + bias·Σ x. How the two sums of a slice are made is a family's: split-k in floats (split-float.wgsl), fixed in
// integers (split-fixed.wgsl). Of the 32 sums of the lanes, neighbours are added in fours, pair by pair, and the eight in rising order.
// Nothing here is an array of a lane's own: what a compiler does not unroll, it puts into memory. Outputs are made side by side, word by
// word, since all 32 elements of a slice at once take registers that a further workgroup needs.

override OUTPUTS: u32 = 1u; // outputs of 32 lanes, 1, 2 or 4: x is read once for them
override STAGES: u32 = 1u; // ceil(k / STAGED). Known to the compiler, so that a row of one stage keeps no registers for a next one
override FIXED: u32 = 0u; // 1: family fixed
const SPLIT_LANES = 256u;
const TEAM = 32u; // lanes an output
const TEAMS = 8u; // SPLIT_LANES / TEAM
const STAGED = 2048u; // elements of x in workgroup memory at a time: two slices a lane
const SLICES = 64u; // STAGED / 32

// A slice of x takes nine vectors, the ninth unused: at a stride of 36 words the lanes of a load meet different banks. Vectors 2w and 2w + 1 are
// what word w of its weights meets: eight floats, or as split-fixed.wgsl has them.
var<workgroup> staged: array<array<vec4<u32>, 9>, 64>;
// The lanes' sums of each output in fours, nine to an output for the same reason.
var<workgroup> lane_sums: array<array<array<f32, 4>, 9>, 32>;
var<workgroup> eighths: array<array<f32, 8>, 32>;

// A lane's share of a stage of x: the eight elements that one word of weights meets.
struct Share {
  a: vec4<f32>,
  b: vec4<f32>,
}

// Reads x_vec4, the row that starts at `base`. What lies past the row's end is the row's last, and nobody's. To be called before weights
// are loaded, whose way is longer.
fn share_of_x(base: u32, k: u32, stage: u32, lane: u32) -> Share {
  let at = stage * STAGED / 4u + 2u * lane;
  let last = k / 4u - 1u;
  return Share(x_vec4[base + min(at, last)], x_vec4[base + min(at + 1u, last)]);
}

fn stage_share(share: Share, lane: u32, k: u32) {
  if (FIXED == 1u) {
    stage_fixed(share, lane, k);
  } else {
    stage_floats(share, lane, k);
  }
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

// Adds one slice of each output to its sum: slice `staged_at` of the stage, which is slice `at` of W for the first output and `slices` on for
// each further one.
fn add_slices(sums: vec4<f32>, s0: Slice, s1: Slice, s2: Slice, s3: Slice, staged_at: u32, at: u32, slices: u32) -> vec4<f32> {
  if (FIXED == 1u) {
    return add_fixed(sums, s0, s1, s2, s3, staged_at, at, slices);
  }
  return add_floats(sums, s0, s1, s2, s3, staged_at, at, slices);
}

// `pair` is the place of the slice's scale and bias among all: its parity says which half of the words they are. `dot` is Σ q·x, `total` Σ x.
fn add_slice(sum: f32, s: Slice, pair: u32, dot: f32, total: f32) -> f32 {
  return fma(bf16_half(s.scales, pair), dot, fma(bf16_half(s.biases, pair), total, sum));
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
