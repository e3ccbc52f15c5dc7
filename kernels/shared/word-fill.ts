/** Fills for kernels that move words without looking at them: one u32 binding, and whatever else the shape needs. */
import { f32Bits, type Contents, type Fill, type FillKind, type Shape } from '../contract.ts';
import type { Random } from '../random.ts';

/** Bits that a move through a float would change or a driver might flush: NaNs quiet and not, infinities, zeros, subnormals. */
const ODD_WORDS = [0x7fc00000, 0x7f800001, 0xffbfffff, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x3f800000] as const;

/**
 * A fill of every kind but stress. `binding` gets `length` words; `rest` draws the other bindings.
 * Words are float32 bits over sixty decades, dyadic values, or classes; none is told from another by a mover of words.
 */
export function wordFills<S extends Shape>(
  binding: string,
  length: (shape: S) => number,
  rest: (shape: S, random: Random) => Contents = () => ({}),
): readonly Fill<S>[] {
  const fill = (kind: FillKind, word: (random: Random) => number): Fill<S> => ({
    name: kind,
    kind,
    make: (shape, random) => ({ [binding]: Uint32Array.from({ length: length(shape) }, () => word(random)), ...rest(shape, random) }),
  });
  return [
    fill('spread', (random) => f32Bits(random.decades(1e-30, 1e30))),
    fill('exact', (random) => f32Bits(random.integer(-1000, 1000) / 8)),
    fill('classes', (random) => random.pick(ODD_WORDS)),
  ];
}
