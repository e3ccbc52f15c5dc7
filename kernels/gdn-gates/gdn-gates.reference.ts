type Numbers = ArrayLike<number>;

/** g = −exp(aLog)·softplus(a + dtBias) and beta = sigmoid(b), in float64 from the definition. @returns both [rows, vHeads]. */
export function gdnGatesReference(
  shape: { rows: number; vHeads: number; stride: number; aOffset: number; bOffset: number },
  inputs: { a: Numbers; b: Numbers; aLog: Numbers; dtBias: Numbers },
): { g: Float64Array; beta: Float64Array } {
  const { rows, vHeads, stride, aOffset, bOffset } = shape;
  const g = new Float64Array(rows * vHeads);
  const beta = new Float64Array(rows * vHeads);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < vHeads; head++) {
      const at = row * vHeads + head;
      const x = inputs.a[row * stride + aOffset + head]! + inputs.dtBias[head]!;
      // softplus(x) = log(1 + eˣ); the larger of 0 and x is taken out so that eˣ cannot overflow.
      const softplus = Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
      g[at] = -Math.exp(inputs.aLog[head]!) * softplus;
      beta[at] = 1 / (1 + Math.exp(-inputs.b[row * stride + bOffset + head]!));
    }
  }
  return { g, beta };
}
