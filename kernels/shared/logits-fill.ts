/** Fills for kernels that read a row of logits as the bits of float32 values. */
import type { Fill } from '../contract.ts';
import type { Random } from '../random.ts';

type Row = Readonly<{ n: number }>;

function fill(name: string, kind: Fill['kind'], make: (n: number, random: Random) => Uint32Array): Fill<Row> {
  return { name, kind, make: ({ n }, random) => ({ logits: make(n, random) }) };
}

const bits = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer);

const spread = (n: number, random: Random): Uint32Array => bits(Float32Array.from({ length: n }, () => random.decades(1e-4, 1e2)));

const SPECIAL = [0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001] as const;

export const logitsFills: readonly Fill<Row>[] = [
  fill('spread', 'spread', spread),
  fill('all negative', 'spread', (n, random) => spread(n, random).map((word) => word | 0x80000000)),
  // Few values, so that the largest comes up many times, and in most rows it is a zero of either sign.
  fill('ties', 'exact', (n, random) => {
    const top = random.pick([0x3f800000, 0x00000000, 0x00000000]);
    return Uint32Array.from({ length: n }, () => (top === 0 ? random.pick([0, 0x80000000, 0xbf800000]) : random.pick([top, 0xbf800000, 0])));
  }),
  fill('subnormals', 'classes', (n, random) => Uint32Array.from({ length: n }, () => ((random.word() & 0x807fffff) | 0) >>> 0)),
  fill('some not finite', 'classes', (n, random) => {
    const words = spread(n, random);
    for (let i = 0; i < 3; i++) words[random.integer(0, n - 1)] = random.pick(SPECIAL);
    return words;
  }),
  fill('nothing finite', 'classes', (n, random) => Uint32Array.from({ length: n }, () => random.pick(SPECIAL))),
];
