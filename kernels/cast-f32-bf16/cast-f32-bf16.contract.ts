import { f32Bits, type Contract, type ContractShape, type Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { castF32Bf16Reference } from './cast-f32-bf16.reference.ts';
import { castF32Bf16, type CastF32Bf16Shape } from './cast-f32-bf16.ts';

const served = (name: string, count: number, fills?: readonly string[]): ContractShape<CastF32Bf16Shape> => ({
  name: `${name} ${count}`,
  role: 'served',
  shape: { count },
  ...(fills ? { fills } : {}),
});

function fill(kind: Fill['kind'], word: (random: Random) => number): Fill<CastF32Bf16Shape> {
  return { name: kind, kind, make: ({ count }, random) => ({ x: Uint32Array.from({ length: count }, () => word(random)) }) };
}

/** Around the middle between two neighbours, even and odd, and at both ends of the finite range. */
const LOWER_HALVES = [0x0000, 0x0001, 0x7fff, 0x8000, 0x8001, 0xffff] as const;
const UPPER_HALVES = [0x0000, 0x0001, 0x007f, 0x0080, 0x3f80, 0x3f81, 0x3fff, 0x7f7e, 0x7f7f, 0x7f80, 0x7f81, 0x7fbf, 0x7fc0, 0x7fff] as const;

function oddWord(random: Random): number {
  const sign = random.pick([0, 0x80000000]);
  return (sign + random.pick(UPPER_HALVES) * 65536 + random.pick(LOWER_HALVES)) >>> 0;
}

export const contract: Contract<CastF32Bf16Shape> = {
  kernel: castF32Bf16,
  meaning:
    'bf16 i of out is the nearest to x[i], ties to even; magnitudes from 2¹²⁸ − 2¹¹⁹ on give infinity, subnormals round as all others do, both zeros stay, ' +
    'and a NaN keeps its sign and the upper part of its payload and is quieted. Two a word, the lower half first; the upper half behind an odd count is 0.',
  bounds: 'None: integer arithmetic on bits is exact on every device.',
  families: { pair: ['pair'] },
  shapes: [
    served('smallest', 1),
    served('awkward', 2),
    served('awkward', 127),
    served('awkward', 129),
    served('tiny', 256),
    served('tiny prefill', 17 * 256),
    served('2B', 2048),
    served('2B prefill', 9 * 2048),
    // One group more than a grid's row holds.
    served('folded grid', 4_097 * 128 - 3, ['spread']),
  ],
  fills: [
    fill('spread', (random) => f32Bits(random.decades(1e-44, 3e38))),
    // Eight significant bits: the cast changes nothing.
    fill('exact', (random) => f32Bits(random.integer(-255, 255) / 16)),
    fill('classes', oddWord),
  ],
  absent: { stress: 'nothing is added' },
  expect: (_, { x }) => ({ out: { kind: 'exact', bits: castF32Bf16Reference(x as Uint32Array) } }),
  sums: { none: 'nothing is added' },
};
