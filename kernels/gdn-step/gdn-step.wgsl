// One token of a Gated DeltaNet between its projections, in one launch: convolution and silu, gates, l2 norms of q and k, the delta
// rule, the gated norm. Every operation is that of conv1d-decode, gdn-gates, qk-l2-norm, gdn-decode or gated-rms-norm, in its order,
// so that their chain gives the same bits; their trees are added by fewer lanes at once, which changes no sum.
//
// One workgroup a key head, with all value heads that read it: so a channel's convolution state belongs to one lane. State rows are
// loaded before anything is waited for. 8 lanes hold row j of a head's state, 32 rows at a time; lane l owns vectors l, l + 8, … of four
// elements, which a matrix holds in rising order: what is not a plain value, a compiler may put into memory.
struct Params {
  kHeads: u32,
  vHeads: u32,
  zOffset: u32,
  aOffset: u32,
  bOffset: u32,
  scale: f32,
  l2Eps: f32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> convWeight: array<f32>;
@group(0) @binding(2) var<storage, read> gates: array<f32>;
@group(0) @binding(3) var<storage, read> norm: array<f32>;
@group(0) @binding(4) var<storage, read_write> convState: array<f32>;
@group(0) @binding(5) var<storage, read_write> state: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;
@group(0) @binding(7) var<uniform> params: Params;

// The same buffer, sixteen bytes a load or store.
@group(0) @binding(5) var<storage, read_write> state_vec4: array<vec4<f32>>;

override DK: u32;
override DV: u32;
override TAPS: u32; // 2, 3 or 4
const LANES = 256u;
const PARTS = 8u; // lanes a state row
const AT_ONCE = 32u; // state rows: LANES / PARTS; DV ≤ 4 · AT_ONCE, DK a multiple of 32 up to 128

// Before their norms; by fours of elements.
var<workgroup> queries: array<array<f32, 4>, 32>;
var<workgroup> keys: array<array<f32, 4>, 32>;
var<workgroup> values: array<f32, 128>;
var<workgroup> squares: array<array<array<f32, 8>, 8>, 2>; // of q and of k by eights of 64 lanes; later of answers
var<workgroup> branches: array<array<f32, 8>, 2>;
var<workgroup> recalled: array<array<f32, 8>, 128>; // 128 rows of 8 parts
var<workgroup> answered: array<array<f32, 8>, 128>;
// g and beta of one value head. They pass through memory as in the chain: with exp(−exp(a)·s) in one expression Mesa multiplies s by
// log2(e) first, which rounds otherwise.
var<workgroup> made: array<f32, 2>;

// What conv1d-decode needs of one channel. Everything is loaded before anything is made or stored: a compiler must take it that a store
// may change what the next load gives, and would wait for each column in turn.
struct Column {
  current: f32,
  past: vec3<f32>,
  weights: vec4<f32>,
}

fn load_column(channel: u32, channels: u32) -> Column {
  var column: Column;
  let at = channel * TAPS;
  column.current = x[channel];
  column.past.x = convState[channel];
  column.weights.x = convWeight[at];
  if (TAPS > 2u) {
    column.past.y = convState[channels + channel];
    column.weights.y = convWeight[at + 1u];
  }
  if (TAPS > 3u) {
    column.past.z = convState[2u * channels + channel];
    column.weights.z = convWeight[at + 2u];
  }
  column.weights.w = convWeight[at + TAPS - 1u];
  return column;
}

fn convolve(column: Column, channel: u32, channels: u32) -> f32 {
  var sum = fma(column.weights.x, column.past.x, 0.0);
  if (TAPS > 2u) {
    sum = fma(column.weights.y, column.past.y, sum);
    convState[channel] = column.past.y;
  }
  if (TAPS > 3u) {
    sum = fma(column.weights.z, column.past.z, sum);
    convState[channels + channel] = column.past.z;
  }
  sum = fma(column.weights.w, column.current, sum);
  convState[(TAPS - 2u) * channels + channel] = column.current;
  return sum * sigmoid(sum);
}

// Three levels of a tree over 64 lanes: lanes 32, 16 and 8 apart.
fn branch(tree: u32, lane: u32) -> f32 {
  let near = (squares[tree][0][lane] + squares[tree][4][lane]) + (squares[tree][2][lane] + squares[tree][6][lane]);
  let far = (squares[tree][1][lane] + squares[tree][5][lane]) + (squares[tree][3][lane] + squares[tree][7][lane]);
  return near + far;
}

// The other three: lanes 4, 2 and 1 apart.
fn trunk(tree: u32) -> f32 {
  let even = (branches[tree][0] + branches[tree][4]) + (branches[tree][2] + branches[tree][6]);
  let odd = (branches[tree][1] + branches[tree][5]) + (branches[tree][3] + branches[tree][7]);
  return even + odd;
}

// The sum of a row's eight parts, in rising order.
fn parts_recalled(row: u32) -> f32 {
  return ((((((recalled[row][0] + recalled[row][1]) + recalled[row][2]) + recalled[row][3]) + recalled[row][4]) + recalled[row][5]) + recalled[row][6]) + recalled[row][7];
}

fn parts_answered(row: u32) -> f32 {
  return ((((((answered[row][0] + answered[row][1]) + answered[row][2]) + answered[row][3]) + answered[row][4]) + answered[row][5]) + answered[row][6]) + answered[row][7];
}

// Four vectors of one row from `base` on, eight apart; those past DK are not read.
fn load_row(base: u32) -> mat4x4<f32> {
  var held = mat4x4<f32>();
  held[0] = state_vec4[base];
  if (DK > 32u) {
    held[1] = state_vec4[base + 8u];
  }
  if (DK > 64u) {
    held[2] = state_vec4[base + 16u];
  }
  if (DK > 96u) {
    held[3] = state_vec4[base + 24u];
  }
  return held;
}

fn store_row(base: u32, held: mat4x4<f32>) {
  state_vec4[base] = held[0];
  if (DK > 32u) {
    state_vec4[base + 8u] = held[1];
  }
  if (DK > 64u) {
    state_vec4[base + 16u] = held[2];
  }
  if (DK > 96u) {
    state_vec4[base + 24u] = held[3];
  }
}

fn keys_at(vector: u32) -> vec4<f32> {
  return vec4<f32>(keys[vector][0], keys[vector][1], keys[vector][2], keys[vector][3]);
}

fn queries_at(vector: u32) -> vec4<f32> {
  return vec4<f32>(queries[vector][0], queries[vector][1], queries[vector][2], queries[vector][3]);
}

// What a lane's vectors meet, normed.
fn key_row(part: u32, root: f32) -> mat4x4<f32> {
  return mat4x4<f32>(keys_at(part) * root, keys_at(part + 8u) * root, keys_at(part + 16u) * root, keys_at(part + 24u) * root);
}

fn query_row(part: u32, root: f32) -> mat4x4<f32> {
  return mat4x4<f32>(
    queries_at(part) * root * params.scale,
    queries_at(part + 8u) * root * params.scale,
    queries_at(part + 16u) * root * params.scale,
    queries_at(part + 24u) * root * params.scale
  );
}

// Four products, one after the other.
fn add_four(start: f32, a: vec4<f32>, b: vec4<f32>) -> f32 {
  var sum = start;
  sum = fma(a.x, b.x, sum);
  sum = fma(a.y, b.y, sum);
  sum = fma(a.z, b.z, sum);
  sum = fma(a.w, b.w, sum);
  return sum;
}

fn add_row(a: mat4x4<f32>, b: mat4x4<f32>) -> f32 {
  var sum = add_four(0.0, a[0], b[0]);
  if (DK > 32u) {
    sum = add_four(sum, a[1], b[1]);
  }
  if (DK > 64u) {
    sum = add_four(sum, a[2], b[2]);
  }
  if (DK > 96u) {
    sum = add_four(sum, a[3], b[3]);
  }
  return sum;
}

fn decayed(held: mat4x4<f32>, decay: f32) -> mat4x4<f32> {
  return mat4x4<f32>(held[0] * decay, held[1] * decay, held[2] * decay, held[3] * decay);
}

fn written(held: mat4x4<f32>, key: mat4x4<f32>, delta: f32) -> mat4x4<f32> {
  return mat4x4<f32>(fma(vec4<f32>(delta), key[0], held[0]), fma(vec4<f32>(delta), key[1], held[1]), fma(vec4<f32>(delta), key[2], held[2]), fma(vec4<f32>(delta), key[3], held[3]));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let keyHead = group.x;
  let keyWidth = params.kHeads * DK;
  let channels = 2u * keyWidth + params.vHeads * DV;
  let ratio = params.vHeads / params.kHeads;
  let part = lane % PARTS;
  let row = lane / PARTS;

  var ofQuery = 0.0;
  var ofKey = 0.0;
  for (var v = 0u; v < ratio; v++) {
    let head = keyHead * ratio + v;
    // Rows past DV are the last: they are neither written nor counted.
    let base0 = (head * DV + min(row, DV - 1u)) * DK / 4u + part;
    let base1 = (head * DV + min(row + AT_ONCE, DV - 1u)) * DK / 4u + part;
    let base2 = (head * DV + min(row + 2u * AT_ONCE, DV - 1u)) * DK / 4u + part;
    let base3 = (head * DV + min(row + 3u * AT_ONCE, DV - 1u)) * DK / 4u + part;
    var held0 = load_row(base0);
    var held1 = mat4x4<f32>();
    var held2 = mat4x4<f32>();
    var held3 = mat4x4<f32>();
    if (DV > AT_ONCE) {
      held1 = load_row(base1);
    }
    if (DV > 2u * AT_ONCE) {
      held2 = load_row(base2);
    }
    if (DV > 3u * AT_ONCE) {
      held3 = load_row(base3);
    }

    // Needed last, on the way from the start.
    let z = x[params.zOffset + head * DV + min(lane, DV - 1u)];
    let scaling = norm[min(lane, DV - 1u)];

    // 128 lanes make q and the others k; DV lanes make v as well.
    let i = lane % 128u;
    let own = select(keyWidth, 0u, lane < 128u) + keyHead * DK + min(i, DK - 1u);
    let valueChannel = 2u * keyWidth + head * DV + min(lane, DV - 1u);
    // Only the lane that moves a column may read it: the others would do so while it is written.
    var column: Column;
    var valueColumn: Column;
    if (v == 0u && i < DK) {
      column = load_column(own, channels);
    }
    if (lane < DV) {
      valueColumn = load_column(valueChannel, channels);
    }
    if (v == 0u && i < DK) {
      let convolved = convolve(column, own, channels);
      if (lane < 128u) {
        queries[i / 4u][i % 4u] = convolved;
      } else {
        keys[i / 4u][i % 4u] = convolved;
      }
    }
    if (lane < DV) {
      values[lane] = convolve(valueColumn, valueChannel, channels);
    }
    if (lane == LANES - 1u) {
      made[0] = -exp(gates[head]) * softplus(x[params.aOffset + head] + gates[params.vHeads + head]);
      made[1] = sigmoid(x[params.bOffset + head]);
    }
    workgroupBarrier();
    if (v == 0u) {
      if (lane < 128u) {
        var sum = 0.0;
        for (var i = lane % 64u; i < DK; i += 64u) {
          var value = keys[i / 4u][i % 4u];
          if (lane < 64u) {
            value = queries[i / 4u][i % 4u];
          }
          sum = fma(value, value, sum);
        }
        squares[lane / 64u][lane / 8u % 8u][lane % 8u] = sum;
      }
      workgroupBarrier();
      if (lane < 16u) {
        branches[lane / 8u][lane % 8u] = branch(lane / 8u, lane % 8u);
      }
      workgroupBarrier();
      ofQuery = inverseSqrt(trunk(0u) + params.l2Eps);
      ofKey = inverseSqrt(trunk(1u) + params.l2Eps);
    }

    let decay = exp(made[0]);
    let beta = made[1];
    let key = key_row(part, ofKey);
    held0 = decayed(held0, decay);
    held1 = decayed(held1, decay);
    held2 = decayed(held2, decay);
    held3 = decayed(held3, decay);
    recalled[row][part] = add_row(held0, key);
    recalled[row + AT_ONCE][part] = add_row(held1, key);
    recalled[row + 2u * AT_ONCE][part] = add_row(held2, key);
    recalled[row + 3u * AT_ONCE][part] = add_row(held3, key);
    workgroupBarrier();
    let query = query_row(part, ofQuery);
    held0 = written(held0, key, beta * (values[row] - parts_recalled(row)));
    answered[row][part] = add_row(held0, query);
    if (row < DV) {
      store_row(base0, held0);
    }
    if (row + AT_ONCE < DV) {
      held1 = written(held1, key, beta * (values[row + AT_ONCE] - parts_recalled(row + AT_ONCE)));
      answered[row + AT_ONCE][part] = add_row(held1, query);
      store_row(base1, held1);
    }
    if (row + 2u * AT_ONCE < DV) {
      held2 = written(held2, key, beta * (values[row + 2u * AT_ONCE] - parts_recalled(row + 2u * AT_ONCE)));
      answered[row + 2u * AT_ONCE][part] = add_row(held2, query);
      store_row(base2, held2);
    }
    if (row + 3u * AT_ONCE < DV) {
      held3 = written(held3, key, beta * (values[row + 3u * AT_ONCE] - parts_recalled(row + 3u * AT_ONCE)));
      answered[row + 3u * AT_ONCE][part] = add_row(held3, query);
      store_row(base3, held3);
    }
    workgroupBarrier();
    var answer = 0.0;
    if (lane < DV) {
      answer = parts_answered(lane);
    }
    if (lane < 64u) {
      var sum = fma(answer, answer, 0.0);
      if (lane + 64u < DV) {
        let far = parts_answered(lane + 64u);
        sum = fma(far, far, sum);
      }
      squares[0][lane / 8u][lane % 8u] = sum;
    }
    workgroupBarrier();
    if (lane < 8u) {
      branches[0][lane] = branch(0u, lane);
    }
    workgroupBarrier();
    if (lane < DV) {
      let factor = inverseSqrt(trunk(0u) / f32(DV) + params.eps);
      out[head * DV + lane] = answer * factor * scaling * (z * sigmoid(z));
    }
    // No barrier: `branches`, which lanes may still be reading, the next value head writes only after barriers of its own.
  }
}
