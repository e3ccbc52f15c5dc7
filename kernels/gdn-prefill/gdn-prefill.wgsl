// The recurrence of one value dimension j is independent of every other, so 8 lanes keep row j of a head's state in registers
// and walk the tokens; a workgroup holds 8 such rows. Lane l owns vectors l, l+8, … of four elements of the row.
// Reduction, twice a token (S·k and S·q): 4·ceil(dk/32) products a lane in rising order, then 8 partial sums in rising lane order,
// added by every lane alike. Depth: 4·ceil(dk/32) + 8. The state itself gathers 3 roundings an element a token (decay, product, sum).
struct Params {
  rows: u32,
  kHeads: u32,
  vHeads: u32,
  dv: u32,
  vStride: u32,
  vOffset: u32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> g: array<f32>;
@group(0) @binding(4) var<storage, read> beta: array<f32>;
@group(0) @binding(5) var<storage, read_write> state: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;
@group(0) @binding(7) var<uniform> params: Params;

override DK: u32;
const LANES = 8u;
const COLUMNS = 8u;
const PARTS = 64u; // LANES · COLUMNS
const SLOTS = 32u; // DK ≤ LANES · SLOTS

// One array a reduction, so that one barrier separates writing from reading and the other array's barrier protects the next token.
var<workgroup> recalled: array<f32, PARTS>;
var<workgroup> answers: array<f32, PARTS>;

// Element `t` of those that a lane owns.
fn element(t: u32, lane: u32) -> u32 {
  return (t / 4u * LANES + lane) * 4u + t % 4u;
}

@compute @workgroup_size(LANES, COLUMNS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let lane = local.x;
  let first = local.y * LANES;
  let head = group.y;
  let j = group.x * COLUMNS + local.y;
  let held = j < params.dv;
  let kHead = head * params.kHeads / params.vHeads;
  let stateBase = (head * params.dv + j) * DK;

  var row: array<f32, SLOTS>;
  if (held) {
    for (var t = 0u; element(t, lane) < DK; t++) {
      row[t] = state[stateBase + element(t, lane)];
    }
  }

  for (var token = 0u; token < params.rows; token++) {
    let keyBase = (token * params.kHeads + kHead) * DK;
    let gate = token * params.vHeads + head;
    let decay = exp(g[gate]);

    var recall = 0.0;
    for (var t = 0u; element(t, lane) < DK; t++) {
      row[t] *= decay;
      recall = fma(row[t], k[keyBase + element(t, lane)], recall);
    }
    recalled[first + lane] = recall;
    workgroupBarrier();
    var old = recalled[first];
    for (var l = 1u; l < LANES; l++) {
      old += recalled[first + l];
    }

    var value = 0.0;
    if (held) {
      value = v[token * params.vStride + params.vOffset + head * params.dv + j];
    }
    let delta = beta[gate] * (value - old);
    var answer = 0.0;
    for (var t = 0u; element(t, lane) < DK; t++) {
      row[t] = fma(delta, k[keyBase + element(t, lane)], row[t]);
      answer = fma(row[t], q[keyBase + element(t, lane)], answer);
    }
    answers[first + lane] = answer;
    workgroupBarrier();
    if (held && lane == 0u) {
      var sum = answers[first];
      for (var l = 1u; l < LANES; l++) {
        sum += answers[first + l];
      }
      out[(token * params.vHeads + head) * params.dv + j] = sum;
    }
  }

  if (held) {
    for (var t = 0u; element(t, lane) < DK; t++) {
      state[stateBase + element(t, lane)] = row[t];
    }
  }
}
