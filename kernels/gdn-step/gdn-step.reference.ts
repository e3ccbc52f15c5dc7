type Numbers = ArrayLike<number>;

interface Shape {
  readonly kHeads: number;
  readonly vHeads: number;
  readonly dk: number;
  readonly dv: number;
  readonly taps: number;
  readonly zOffset: number;
  readonly aOffset: number;
  readonly bOffset: number;
  readonly eps: number;
}

/** What is made on the way: convolved [2·kHeads·dk + vHeads·dv], q and k [kHeads, dk], g and beta [vHeads], answers [vHeads, dv]. */
export type GdnStepMade = Readonly<Record<'convolved' | 'q' | 'k' | 'g' | 'beta' | 'answers', Float64Array>>;

/**
 * One token of a Gated DeltaNet between its projections, in float64 from the definition: causal convolution and silu, g = −exp(A_log)·
 * softplus(a + dt_bias), β = sigmoid(b), l2 norms with 1e-6 under the root (queries then · dk^-0.5), S ← e^g·S, S ← S + β(v − S k)kᵀ,
 * out = rmsnorm(S q)·norm·silu(z). Value head h uses key head floor(h·kHeads/vHeads).
 * @returns out [vHeads, dv], the new convState [taps − 1, channels], the new state [vHeads, dv, dk], and what was made on the way.
 */
export function gdnStepReference(
  shape: Shape,
  inputs: { x: Numbers; convWeight: Numbers; gates: Numbers; norm: Numbers; convState: Numbers; state: Numbers },
): { out: Float64Array; convState: Float64Array; state: Float64Array; made: GdnStepMade } {
  const { kHeads, vHeads, dk, dv, taps, zOffset, aOffset, bOffset, eps } = shape;
  const { x, convWeight, gates, norm } = inputs;
  const channels = 2 * kHeads * dk + vHeads * dv;
  const made = {
    convolved: new Float64Array(channels),
    q: new Float64Array(kHeads * dk),
    k: new Float64Array(kHeads * dk),
    g: new Float64Array(vHeads),
    beta: new Float64Array(vHeads),
    answers: new Float64Array(vHeads * dv),
  };
  const convState = new Float64Array((taps - 1) * channels);
  const state = Float64Array.from(inputs.state);
  const out = new Float64Array(vHeads * dv);

  for (let channel = 0; channel < channels; channel++) {
    let sum = convWeight[channel * taps + taps - 1]! * x[channel]!;
    for (let tap = 0; tap < taps - 1; tap++) {
      sum += convWeight[channel * taps + tap]! * inputs.convState[tap * channels + channel]!;
      convState[tap * channels + channel] = tap + 1 < taps - 1 ? inputs.convState[(tap + 1) * channels + channel]! : x[channel]!;
    }
    made.convolved[channel] = silu(sum);
  }

  for (let head = 0; head < kHeads; head++) {
    const query = head * dk;
    const key = (kHeads + head) * dk;
    let [querySquares, keySquares] = [0, 0];
    for (let i = 0; i < dk; i++) {
      querySquares += made.convolved[query + i]! ** 2;
      keySquares += made.convolved[key + i]! ** 2;
    }
    for (let i = 0; i < dk; i++) {
      made.q[head * dk + i] = made.convolved[query + i]! / Math.sqrt(querySquares + 1e-6) / Math.sqrt(dk);
      made.k[head * dk + i] = made.convolved[key + i]! / Math.sqrt(keySquares + 1e-6);
    }
  }

  for (let head = 0; head < vHeads; head++) {
    const at = Math.floor((head * kHeads) / vHeads) * dk;
    const a = x[aOffset + head]! + gates[vHeads + head]!;
    // log(1 + eᵃ), the larger of 0 and a taken out so that eᵃ cannot overflow.
    made.g[head] = -Math.exp(gates[head]!) * (Math.max(a, 0) + Math.log1p(Math.exp(-Math.abs(a))));
    made.beta[head] = 1 / (1 + Math.exp(-x[bOffset + head]!));
    let squares = 0;
    for (let j = head * dv; j < (head + 1) * dv; j++) {
      let recalled = 0;
      for (let i = 0; i < dk; i++) {
        state[j * dk + i]! *= Math.exp(made.g[head]!);
        recalled += state[j * dk + i]! * made.k[at + i]!;
      }
      const delta = made.beta[head]! * (made.convolved[2 * kHeads * dk + j]! - recalled);
      for (let i = 0; i < dk; i++) {
        state[j * dk + i]! += delta * made.k[at + i]!;
        made.answers[j]! += state[j * dk + i]! * made.q[at + i]!;
      }
      squares += made.answers[j]! ** 2;
    }
    for (let j = 0; j < dv; j++) {
      const value = made.answers[head * dv + j]! / Math.sqrt(squares / dv + eps);
      out[head * dv + j] = value * norm[j]! * silu(x[zOffset + head * dv + j]!);
    }
  }
  return { out, convState, state, made };
}

function silu(value: number): number {
  return value / (1 + Math.exp(-value));
}
