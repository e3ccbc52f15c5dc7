// The token loop's result by chunks of 16 rows. With c_i the decay from the chunk's start to row i, f_m the decay from row m to
// its end, S the state before it, and T and P of gdn-chunk-prepare:
//   r_i = β_i·(v_i − c_i·S k_i);  x = T r;  out_i = c_i·S q_i + Σ_(m≤i) P_im·x_m;  S ← c_last·S + Σ_m f_m·x_m·k_mᵀ
// where x_i is the δ of the token loop. A workgroup holds 8 rows of a head's state, since those of different values never meet.
// Lane (column, i, half) has row i of the chunk and one of the 8; the halves share a dot's quads, even and odd. The same lanes, as
// (d, fellow), keep quad d of one row of the state each, and share the rows of mixes.
// Reduction of S·k and S·q: ceil(dk/8) products in each of 8 strided sums, 4 of a half added in order, then the halves. Depth: ceil(dk/8) + 8.
// The other sums are serial in rising row order: i + 1 products in T r and P x, one of the old state and at most 16 in S.
struct Params {
  rows: u32,
  kHeads: u32,
  vHeads: u32,
  quads: u32, // dk / 4, at most 32
  dv: u32,
  vStride: u32,
  vOffset: u32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(0) var<storage, read> q_quads: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(1) var<storage, read> k_quads: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> g: array<f32>;
@group(0) @binding(4) var<storage, read> beta: array<f32>;
@group(0) @binding(5) var<storage, read> mixes: array<f32>;
@group(0) @binding(6) var<storage, read_write> state: array<f32>;
@group(0) @binding(6) var<storage, read_write> state_quads: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;

const ROWS = 16u;
const COLUMNS = 8u;
const HALVES = 2u;
const WIDTH = 32u; // most quads a row, and the entries of a row of mixes
const STRIDE = 33u; // one more than the widest row, so that rows start in different banks
const HELD = 264u; // COLUMNS · STRIDE
const SLOTS = 128u; // ROWS · COLUMNS
const MIXES = 512u; // ROWS · 2 · ROWS

var<workgroup> held: array<vec4<f32>, HELD>;
var<workgroup> mix: array<f32, MIXES>;
var<workgroup> residues: array<f32, SLOTS>; // the odd half's S·k, then r
var<workgroup> written: array<f32, SLOTS>; // the odd half's S·q, then x
var<workgroup> carry: array<f32, ROWS>;
var<workgroup> fade: array<f32, ROWS>;

fn total(parts: vec4<f32>) -> f32 {
  return parts.x + parts.y + parts.z + parts.w;
}

@compute @workgroup_size(COLUMNS, ROWS, HALVES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) lane: u32) {
  let column = local.x;
  let i = local.y;
  let half = local.z;
  let slot = i * COLUMNS + column;
  let head = group.y;
  let kHead = head * params.kHeads / params.vHeads;
  let j = group.x * COLUMNS + column;

  let d = lane % WIDTH;
  let fellow = lane / WIDTH;
  let kept_row = group.x * COLUMNS + fellow;
  let keeps = d < params.quads && kept_row < params.dv;
  let kept_at = (head * params.dv + kept_row) * params.quads + d;
  var kept = vec4<f32>();
  if (keeps) {
    kept = state_quads[kept_at];
  }

  for (var start = 0u; start < params.rows; start += ROWS) {
    // Rows past the last are in no sum: a zero weight would make NaN of an infinity.
    let live = min(ROWS, params.rows - start);
    let gate = (start + i) * params.vHeads + head;
    let lives = i < live;
    let owns = lives && half == 0u && j < params.dv;
    var value = 0.0;
    var strength = 0.0;
    if (owns) {
      value = v[(start + i) * params.vStride + params.vOffset + head * params.dv + j];
      strength = beta[gate];
    }
    if (lane < live) {
      var before = 0.0;
      var after = 0.0;
      for (var t = 0u; t < live; t++) {
        let log_decay = g[(start + t) * params.vHeads + head];
        before += select(0.0, log_decay, t <= lane);
        after += select(log_decay, 0.0, t <= lane);
      }
      carry[lane] = exp(before);
      fade[lane] = exp(after);
    }
    held[fellow * STRIDE + d] = kept;
    for (var r = fellow; r < live; r += COLUMNS) {
      mix[r * WIDTH + d] = mixes[((start + r) * params.vHeads + head) * WIDTH + d];
    }
    workgroupBarrier();
    var answers = vec4<f32>();
    var recalls = vec4<f32>();
    if (lives) {
      let key_at = ((start + i) * params.kHeads + kHead) * params.quads;
      for (var quad = half; quad < params.quads; quad += HALVES) {
        let state_quad = held[column * STRIDE + quad];
        answers += state_quad * q_quads[key_at + quad];
        recalls += state_quad * k_quads[key_at + quad];
      }
    }
    if (half == 1u) {
      residues[slot] = total(recalls);
      written[slot] = total(answers);
    }
    workgroupBarrier();
    var answer = 0.0;
    if (owns) {
      answer = carry[i] * (total(answers) + written[slot]);
      residues[slot] = strength * (value - carry[i] * (total(recalls) + residues[slot]));
    }
    workgroupBarrier();
    if (owns) {
      var sum = 0.0;
      for (var m = 0u; m <= i; m++) {
        sum += mix[i * WIDTH + m] * residues[m * COLUMNS + column];
      }
      written[slot] = sum;
    }
    workgroupBarrier();
    if (owns) {
      for (var m = 0u; m <= i; m++) {
        answer += mix[i * WIDTH + ROWS + m] * written[m * COLUMNS + column];
      }
      out[gate * params.dv + j] = answer;
    }
    if (keeps) {
      kept *= carry[live - 1u];
      for (var m = 0u; m < live; m++) {
        kept += fade[m] * written[m * COLUMNS + fellow] * k_quads[((start + m) * params.kHeads + kHead) * params.quads + d];
      }
    }
    workgroupBarrier();
  }

  if (keeps) {
    state_quads[kept_at] = kept;
  }
}
