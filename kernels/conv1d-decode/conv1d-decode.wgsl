// One lane owns one channel of the one row.
// Reduction: taps products in rising order, oldest tap first. Depth: taps. Then silu: one exp, one sum, one quotient, one product.
// The same operations in the same order as conv1d-prefill.
struct Params {
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
  let past = params.taps - 1u;
  let current = x[channel];
  var sum = 0.0;
  for (var tap = 0u; tap < past; tap++) {
    let value = state[tap * params.channels + channel];
    sum = fma(weight[channel * params.taps + tap], value, sum);
    // The state moves up by one column as it is read.
    if (tap > 0u) {
      state[(tap - 1u) * params.channels + channel] = value;
    }
  }
  sum = fma(weight[channel * params.taps + past], current, sum);
  state[(past - 1u) * params.channels + channel] = current;
  out[channel] = sum * sigmoid(sum);
}
