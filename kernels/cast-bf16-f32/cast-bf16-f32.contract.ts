import type { Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { bf16Bits, packPairs } from '../shared/float-bits.ts';
import { castBf16F32Reference } from './cast-bf16-f32.reference.ts';
import { castBf16F32, type CastBf16F32Shape } from './cast-bf16-f32.ts';

const served = (name: string, count: number, fills?: readonly string[]): ContractShape<CastBf16F32Shape> => ({
  name: `${name} ${count}`,
  role: 'served',
  shape: { count },
  ...(fills ? { fills } : {}),
});

/** Whole words: behind an odd count lies one more half, which must not show. */
function fill(kind: Fill['kind'], half: (random: Random) => number): Fill<CastBf16F32Shape> {
  const halves = (count: number, random: Random): number[] => Array.from({ length: count + (count % 2) }, () => half(random));
  return { name: kind, kind, make: ({ count }, random) => ({ x: packPairs(halves(count, random)) }) };
}

/** NaNs quiet and not, infinities, zeros, subnormals and the ends of the finite range. */
const ODD_HALVES = [0x7fc0, 0x7f81, 0xffbf, 0xffff, 0x7f80, 0xff80, 0x0000, 0x8000, 0x0001, 0x807f, 0x0080, 0x7f7f, 0x3f80] as const;

export const contract: Contract<CastBf16F32Shape> = {
  kernel: castBf16F32,
  meaning:
    'out[i] is half i mod 2, the lower one first, of word i/2 as float32: the same value, subnormals, infinities and both zeros included. ' +
    'A NaN keeps its sign and payload and is quieted. The upper half behind an odd count is ignored.',
  bounds: 'None: every bf16 is a float32, and integer arithmetic on bits is exact on every device.',
  families: { element: ['element'] },
  shapes: [
    served('smallest', 1),
    served('awkward', 2),
    served('awkward', 63),
    served('awkward', 65),
    served('tiny', 256),
    served('tiny prefill', 17 * 256),
    served('2B', 2048),
    served('2B prefill', 9 * 2048),
    // One group more than a grid's row holds.
    served('folded grid', 4_097 * 64 - 3, ['spread']),
  ],
  fills: [
    fill('spread', (random) => bf16Bits(random.decades(1e-38, 3e38))),
    fill('exact', (random) => bf16Bits(random.integer(-255, 255) / 16)),
    fill('classes', (random) => random.pick(ODD_HALVES)),
  ],
  absent: { stress: 'nothing is added' },
  expect: ({ count }, { x }) => ({ out: { kind: 'exact', bits: castBf16F32Reference(count, x as Uint32Array) } }),
  sums: { none: 'nothing is added' },
};
