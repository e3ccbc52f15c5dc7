type Numbers = ArrayLike<number>;

/**
 * Causal depthwise convolution over the state followed by the rows, then silu, in float64 from the definition.
 * @returns `out` [rows, channels] and the new `state` [taps−1, channels]: the last raw columns, oldest first.
 */
export function conv1dPrefillReference(
  shape: { rows: number; channels: number; taps: number; stride: number },
  inputs: { x: Numbers; weight: Numbers; state: Numbers },
): { out: Float64Array; state: Float64Array } {
  const { rows, channels, taps, stride } = shape;
  const out = new Float64Array(rows * channels);
  const state = new Float64Array((taps - 1) * channels);
  for (let channel = 0; channel < channels; channel++) {
    const columns: number[] = [];
    for (let i = 0; i < taps - 1; i++) columns.push(inputs.state[i * channels + channel]!);
    for (let row = 0; row < rows; row++) columns.push(inputs.x[row * stride + channel]!);
    for (let row = 0; row < rows; row++) {
      let sum = 0;
      for (let tap = 0; tap < taps; tap++) sum += inputs.weight[channel * taps + tap]! * columns[row + tap]!;
      out[row * channels + channel] = sum / (1 + Math.exp(-sum));
    }
    for (let i = 0; i < taps - 1; i++) state[i * channels + channel] = columns[rows + i]!;
  }
  return { out, state };
}
