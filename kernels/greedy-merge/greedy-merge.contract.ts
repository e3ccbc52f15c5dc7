import type { Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { greedyMergeReference } from './greedy-merge.reference.ts';
import { greedyMerge, type GreedyMergeShape } from './greedy-merge.ts';

const SPAN = 1024;
const NONE = 0xffffffff;

const served = (name: string, spans: number): ContractShape<GreedyMergeShape> => ({ name: `${name} ${spans}`, role: 'served', shape: { spans } });

/** Spans as greedy-parts leaves them: indices of a span lie in it, and key 0 goes with no index. `bad`: whether a span has one that is not finite. */
function fill(name: string, kind: Fill['kind'], keyOf: (random: Random) => number, badOf: (random: Random) => boolean): Fill<GreedyMergeShape> {
  return {
    name,
    kind,
    make: ({ spans }, random) => {
      const parts = new Uint32Array(spans * 5);
      for (let span = 0; span < spans; span++) {
        const inSpan = (): number => span * SPAN + random.integer(0, SPAN - 1);
        const key = keyOf(random);
        const bad = key === 0 || badOf(random);
        parts.set([key, key === 0 ? NONE : inSpan(), bad ? inSpan() : NONE, random.word(), random.word()], span * 5);
      }
      return { parts };
    },
  };
}

export const contract: Contract<GreedyMergeShape> = {
  kernel: greedyMerge,
  meaning:
    'Of the spans that greedy-parts leaves, [key, id, first, a, b] each: result = [id of the largest key, the lowest of those that share it, or 0xffffffff where every key is 0; 1 when no span ' +
    'names a first logit that is not finite, else 0; the lowest of those named or 0xffffffff; 0], checksum = [Σ a, Σ b] mod 2³². With parts of a row that is what argmax and logits-checksum give for it.',
  bounds: 'None: integer arithmetic is exact on every device.',
  families: { 'one-group': ['default'] },
  shapes: [served('smallest', 1), served('tiny', 2), served('2B', 243), served('awkward', 255), served('one over', 257), served('awkward', 1000)],
  fills: [
    fill(
      'spread',
      'spread',
      (random) => random.word() || 1,
      () => false,
    ),
    // Few keys, so that the largest comes up in many spans.
    fill(
      'ties',
      'exact',
      (random) => random.pick([0x80000000, 0xbf800000, 0x407fffff]),
      () => false,
    ),
    fill(
      'some not finite',
      'classes',
      (random) => random.pick([0, 1, 0x80000000, 0xff7fffff]),
      (random) => random.integer(0, 3) === 0,
    ),
    fill(
      'nothing finite',
      'classes',
      () => 0,
      () => true,
    ),
  ],
  absent: { stress: 'nothing is summed in floating point' },
  expect: (shape, { parts }) => {
    const { result, checksum } = greedyMergeReference(shape, { parts: parts as Uint32Array });
    return { result: { kind: 'exact', bits: result }, checksum: { kind: 'exact', bits: checksum } };
  },
  sums: { none: 'nothing is summed in floating point' },
};
