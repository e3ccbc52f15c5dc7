/** out[i] = a[i] + b[i] in float64. */
export function residualAddReference(a: Float32Array, b: Float32Array): Float64Array {
  const out = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = a[i]! + b[i]!;
  return out;
}
