/**
 * Classes of float32 values, read from their bits: comparisons with NaN and tests such as x != x are not to be relied on in
 * a shader, and the host judges shaders, so it looks at the same thing they do.
 */
export type FloatClass = 'nan' | '+inf' | '-inf' | '+0' | '-0' | 'subnormal' | 'normal';

/** The class of a float32 word. */
export function classOf(bits: number): FloatClass {
  const negative = bits >>> 31 === 1;
  const exponent = (bits >>> 23) & 0xff;
  const fraction = bits & 0x7fffff;
  if (exponent === 0xff) return fraction !== 0 ? 'nan' : negative ? '-inf' : '+inf';
  if (exponent === 0) return fraction !== 0 ? 'subnormal' : negative ? '-0' : '+0';
  return 'normal';
}

/**
 * What is wrong with the class of an output word whose reference value is `value`; empty when the classes agree. A NaN asks
 * for a NaN and an infinity for itself; a finite value asks for a finite word, and its bound does the rest (zeros and
 * subnormals included: a driver may flush them, and bounds allow for that).
 */
export function classFault(bits: number, value: number): string {
  const found = classOf(bits);
  if (Number.isNaN(value)) return found === 'nan' ? '' : `is ${found} where NaN is due`;
  if (value === Infinity) return found === '+inf' ? '' : `is ${found} where +inf is due`;
  if (value === -Infinity) return found === '-inf' ? '' : `is ${found} where -inf is due`;
  return found === 'nan' || found === '+inf' || found === '-inf' ? `is ${found} where the finite ${value} is due` : '';
}

/** A word for messages: its value and its bits. */
export function showWord(bits: number): string {
  const value = new Float32Array(Uint32Array.of(bits).buffer)[0]!;
  return `${classOf(bits) === '-0' ? '-0' : value} (0x${bits.toString(16).padStart(8, '0')})`;
}
