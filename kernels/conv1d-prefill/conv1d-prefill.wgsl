// One lane owns one channel and walks its rows, so that updating the state in place is free of races.
// Reduction: taps products in rising order, oldest tap first. Depth: taps. Then silu: one exp, one sum, one quotient, one product.
struct Params {
  rows: u32,
  channels: u32,
  taps: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> state: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let channel = id.x;
  if (channel >= params.channels) {
    return;
  }
  // Column c of the history followed by the rows: the state for c < past, row c − past after it.
  let past = params.taps - 1u;
  for (var row = 0u; row < params.rows; row++) {
    var sum = 0.0;
    for (var tap = 0u; tap < params.taps; tap++) {
      let c = row + tap;
      var value = 0.0;
      if (c < past) {
        value = state[c * params.channels + channel];
      } else {
        value = x[(c - past) * params.channels + channel];
      }
      sum += weight[channel * params.taps + tap] * value;
    }
    out[row * params.channels + channel] = sum * sigmoid(sum);
  }
  // Rising order reads each old column before it is overwritten (rows ≥ 1).
  for (var i = 0u; i < past; i++) {
    let c = params.rows + i;
    if (c < past) {
      state[i * params.channels + channel] = state[c * params.channels + channel];
    } else {
      state[i * params.channels + channel] = x[(c - past) * params.channels + channel];
    }
  }
}
