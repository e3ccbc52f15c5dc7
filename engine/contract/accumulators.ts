/** Rounding to the accumulator formats that gate 4 replays sums in. Round to nearest, ties to even; overflow to infinity. */
import type { SumFormat } from '../../kernels/contract.ts';

function roundTo(value: number, fractionBits: number, smallestExponent: number, largest: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(value))), smallestExponent);
  const unit = 2 ** (exponent - fractionBits);
  const scaled = value / unit;
  const floor = Math.floor(scaled);
  const rest = scaled - floor;
  const rounded = (rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor) * unit;
  return Math.abs(rounded) > largest ? Math.sign(value) * Infinity : rounded;
}

/** IEEE binary16: 10 fraction bits, subnormals below 2⁻¹⁴, largest 65504. */
export function roundToFp16(value: number): number {
  return roundTo(value, 10, -14, 65504);
}

/** bfloat16: 7 fraction bits, float32's range. */
export function roundToBf16(value: number): number {
  return roundTo(value, 7, -126, (2 - 2 ** -7) * 2 ** 127);
}

export const SUM_FORMATS: Readonly<Record<SumFormat, (value: number) => number>> = { fp16: roundToFp16, bf16: roundToBf16 };
