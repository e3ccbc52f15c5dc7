// One lane owns one channel of a block of 16 rows. Only the first block meets the state, which it updates in place when it has read it:
// its rows reach back past the first row, and with at most 17 taps no other block's do.
// Reduction: taps products in rising order, oldest tap first. Depth: taps. Then silu: one exp, one sum, one quotient, one product.
struct Params {
  rows: u32,
  channels: u32,
  taps: u32,
  stride: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> state: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

const BLOCK = 16u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let channel = id.x;
  if (channel >= params.channels) {
    return;
  }
  // Column c of the history followed by the rows: the state for c < past, row c − past after it.
  let past = params.taps - 1u;
  for (var row = id.y * BLOCK; row < min(params.rows, (id.y + 1u) * BLOCK); row++) {
    var sum = 0.0;
    for (var tap = 0u; tap < params.taps; tap++) {
      let c = row + tap;
      var value: f32;
      if (c < past) {
        value = state[c * params.channels + channel];
      } else {
        value = x[(c - past) * params.stride + channel];
      }
      sum = fma(weight[channel * params.taps + tap], value, sum);
    }
    out[row * params.channels + channel] = sum * sigmoid(sum);
  }
  if (id.y > 0u) {
    return;
  }
  // Rising order reads each old column before it is overwritten (rows ≥ 1).
  for (var i = 0u; i < past; i++) {
    let c = params.rows + i;
    if (c < past) {
      state[i * params.channels + channel] = state[c * params.channels + channel];
    } else {
      state[i * params.channels + channel] = x[(c - past) * params.stride + channel];
    }
  }
}
