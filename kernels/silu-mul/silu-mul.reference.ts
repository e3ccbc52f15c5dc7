/** out[i] = gate[i] / (1 + e^(−gate[i])) · up[i] in float64. */
export function siluMulReference(gate: Float32Array, up: Float32Array): Float64Array {
  const out = new Float64Array(gate.length);
  for (let i = 0; i < gate.length; i++) out[i] = (gate[i]! / (1 + Math.exp(-gate[i]!))) * up[i]!;
  return out;
}
