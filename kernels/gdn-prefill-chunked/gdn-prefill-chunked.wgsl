// The token loop's result by chunks of 16 rows. With c_i the decay from the chunk's start to row i, f_m the decay from row m to
// its end, S the state before it, and T and P of gdn-chunk-prepare:
//   r_i = β_i·(v_i − c_i·S k_i);  x = T r;  out_i = c_i·S q_i + Σ_(m≤i) P_im·x_m;  S ← c_last·S + Σ_m f_m·x_m·k_mᵀ
// where x_i is the δ of the token loop. A workgroup holds 8 rows of a head's state, since those of different values never meet.
// Lane (column, i, half) has row i of the chunk and one of the 8; the halves share a dot's quads, even and odd. The same lanes, as
// (d, fellow), keep quad d of one row of the state each, and share the rows of mixes.
// Reduction of S·k and S·q: ceil(dk/8) products in each of 8 strided sums, 4 of a half added in order, then the halves. Depth: ceil(dk/8) + 8.
// The other sums are serial in rising row order: i + 1 products in T r and P x, one of the old state and at most 16 in S.
// What a chunk needs of memory, but q, is on its way while the chunk before is computed, and loops have bounds that are known to the
// compiler, so that their loads do not wait for each other (H200, a prompt of 1,024 rows of 2b: see engine/README.md, Levers).
struct Params {
  rows: u32,
  kHeads: u32,
  vHeads: u32,
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

override QUADS: u32; // dk / 4, at most 32
const ROWS = 16u;
const COLUMNS = 8u;
const HALVES = 2u;
const WIDTH = 32u; // most quads a row, and the entries of a row of mixes
const STRIDE = 33u; // one more than the widest row, so that rows start in different banks
const HELD = 264u; // COLUMNS · STRIDE
const SLOTS = 128u; // ROWS · COLUMNS
const MIXES = 512u; // ROWS · 2 · ROWS
const KEYS = 528u; // ROWS · STRIDE

var<workgroup> held: array<vec4<f32>, HELD>;
var<workgroup> keys: array<vec4<f32>, KEYS>;
var<workgroup> mix: array<f32, MIXES>;
var<workgroup> residues: array<f32, SLOTS>; // the odd half's S·k, then r
var<workgroup> written: array<f32, SLOTS>; // the odd half's S·q, then x
var<workgroup> carry: array<f32, ROWS>;
var<workgroup> fade: array<f32, ROWS>;
var<workgroup> decays: array<f32, ROWS>;

// What a lane brings of a chunk: quad d of keys, and entry d of mixes, of rows `fellow` and `fellow` + 8; value and strength of its own
// row and column; the decay of row `lane`. Rows past the last are zeros.
struct Brought {
  key: vec4<f32>,
  far_key: vec4<f32>,
  mix: f32,
  far_mix: f32,
  value: f32,
  strength: f32,
  decay: f32,
}

fn key_quad(row: u32, kHead: u32, d: u32) -> vec4<f32> {
  if (row < params.rows && d < QUADS) {
    return k_quads[(row * params.kHeads + kHead) * QUADS + d];
  }
  return vec4<f32>();
}

fn mix_entry(row: u32, head: u32, d: u32) -> f32 {
  if (row < params.rows) {
    return mixes[(row * params.vHeads + head) * WIDTH + d];
  }
  return 0.0;
}

fn total(parts: vec4<f32>) -> f32 {
  return parts.x + parts.y + parts.z + parts.w;
}

fn bring(start: u32, i: u32, half: u32, head: u32, kHead: u32, j: u32, lane: u32) -> Brought {
  let d = lane % WIDTH;
  let row = start + lane / WIDTH;
  var brought: Brought;
  brought.key = key_quad(row, kHead, d);
  brought.far_key = key_quad(row + COLUMNS, kHead, d);
  brought.mix = mix_entry(row, head, d);
  brought.far_mix = mix_entry(row + COLUMNS, head, d);
  if (start + i < params.rows && half == 0u && j < params.dv) {
    brought.value = v[(start + i) * params.vStride + params.vOffset + head * params.dv + j];
    brought.strength = beta[(start + i) * params.vHeads + head];
  }
  if (lane < ROWS && start + lane < params.rows) {
    brought.decay = g[(start + lane) * params.vHeads + head];
  }
  return brought;
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
  let keeps = d < QUADS && kept_row < params.dv;
  let kept_at = (head * params.dv + kept_row) * QUADS + d;
  var kept = vec4<f32>();
  if (keeps) {
    kept = state_quads[kept_at];
  }

  var brought = bring(0u, i, half, head, kHead, j, lane);
  for (var start = 0u; start < params.rows; start += ROWS) {
    // Rows past the last are in no sum: a zero weight would make NaN of an infinity.
    let live = min(ROWS, params.rows - start);
    let lives = i < live;
    let owns = lives && half == 0u && j < params.dv;
    held[fellow * STRIDE + d] = kept;
    keys[fellow * STRIDE + d] = brought.key;
    keys[(fellow + COLUMNS) * STRIDE + d] = brought.far_key;
    mix[fellow * WIDTH + d] = brought.mix;
    mix[(fellow + COLUMNS) * WIDTH + d] = brought.far_mix;
    if (lane < ROWS) {
      decays[lane] = brought.decay;
    }
    let value = brought.value;
    let strength = brought.strength;
    workgroupBarrier();
    brought = bring(start + ROWS, i, half, head, kHead, j, lane);
    if (lane < live) {
      var before = 0.0;
      var after = 0.0;
      for (var t = 0u; t < ROWS; t++) {
        if (t < live) {
          before += select(0.0, decays[t], t <= lane);
          after += select(decays[t], 0.0, t <= lane);
        }
      }
      carry[lane] = exp(before);
      fade[lane] = exp(after);
    }
    var answers = vec4<f32>();
    var recalls = vec4<f32>();
    if (lives) {
      let query_at = ((start + i) * params.kHeads + kHead) * QUADS;
      for (var quad = half; quad < QUADS; quad += HALVES) {
        let state_quad = held[column * STRIDE + quad];
        answers += state_quad * q_quads[query_at + quad];
        recalls += state_quad * keys[i * STRIDE + quad];
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
      for (var m = 0u; m < ROWS; m++) {
        sum = select(sum, sum + mix[i * WIDTH + m] * residues[m * COLUMNS + column], m <= i);
      }
      written[slot] = sum;
    }
    workgroupBarrier();
    if (owns) {
      for (var m = 0u; m < ROWS; m++) {
        answer = select(answer, answer + mix[i * WIDTH + ROWS + m] * written[m * COLUMNS + column], m <= i);
      }
      out[((start + i) * params.vHeads + head) * params.dv + j] = answer;
    }
    if (keeps) {
      kept *= carry[live - 1u];
      for (var m = 0u; m < ROWS; m++) {
        if (m < live) {
          kept += fade[m] * written[m * COLUMNS + fellow] * keys[m * STRIDE + d];
        }
      }
    }
    workgroupBarrier();
  }

  if (keeps) {
    state_quads[kept_at] = kept;
  }
}
