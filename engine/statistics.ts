/** The few figures that the engine makes of its samples. */

/** Nearest-rank percentile; 0 of nothing. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? 0;
}

/** The nearest-rank median; 0 of nothing. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
