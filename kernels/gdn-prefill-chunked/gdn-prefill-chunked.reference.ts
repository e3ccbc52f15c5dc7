type Numbers = ArrayLike<number>;

/**
 * The gated delta rule over a prompt, token by token: S ← e^g·S; δ = β(v − S k); S ← S + δ kᵀ; o = S q, in float64 from the definition.
 * Value head h uses key head floor(h·kHeads/vHeads).
 * @returns `out` [rows, vHeads, dv] and the new `state` [vHeads, dv, dk].
 */
export function gdnPrefillChunkedReference(
  shape: { rows: number; kHeads: number; vHeads: number; dk: number; dv: number; vStride: number; vOffset: number },
  inputs: { q: Numbers; k: Numbers; v: Numbers; g: Numbers; beta: Numbers; state: Numbers },
): { out: Float64Array; state: Float64Array } {
  const { rows, kHeads, vHeads, dk, dv, vStride, vOffset } = shape;
  const out = new Float64Array(rows * vHeads * dv);
  const state = Float64Array.from(inputs.state);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < vHeads; head++) {
      const key = (row * kHeads + Math.floor((head * kHeads) / vHeads)) * dk;
      const decay = Math.exp(inputs.g[row * vHeads + head]!);
      const beta = inputs.beta[row * vHeads + head]!;
      for (let j = 0; j < dv; j++) {
        const base = (head * dv + j) * dk;
        let recall = 0;
        for (let i = 0; i < dk; i++) {
          state[base + i]! *= decay;
          recall += state[base + i]! * inputs.k[key + i]!;
        }
        const delta = beta * (inputs.v[row * vStride + vOffset + head * dv + j]! - recall);
        let answer = 0;
        for (let i = 0; i < dk; i++) {
          state[base + i]! += delta * inputs.k[key + i]!;
          answer += state[base + i]! * inputs.q[key + i]!;
        }
        out[(row * vHeads + head) * dv + j] = answer;
      }
    }
  }
  return { out, state };
}
