import type { Contract, ContractShape } from '../contract.ts';
import { logitsFills } from '../shared/logits-fill.ts';
import { greedyPartsReference } from './greedy-parts.reference.ts';
import { greedyParts, type GreedyPartsShape } from './greedy-parts.ts';

const served = (name: string, n: number): ContractShape<GreedyPartsShape> => ({ name: `${name} ${n}`, role: 'served', shape: { n } });

export const contract: Contract<GreedyPartsShape> = {
  kernel: greedyParts,
  meaning:
    'For each span of 1,024 logits, the last may be shorter: [key, id, first, a, b]. id is the lowest index of the span’s largest finite logit, −0 equal to +0 and subnormals not flushed, ' +
    'and key that logit as an integer in the order of values; 0xffffffff and 0 where none is finite. first is the first index that is not finite, or 0xffffffff. a and b are the sums of ' +
    'logits-checksum over the span, mod 2³². Indices are those of the whole row, so that greedy-merge has argmax’s and logits-checksum’s results without the logits.',
  bounds: 'None: integer arithmetic on bits is exact on every device.',
  families: { span: ['default'] },
  shapes: [
    served('smallest', 1),
    served('awkward', 255),
    served('awkward', 257),
    served('a whole span', 1024),
    served('one over', 1025),
    served('tiny', 2048),
    served('awkward', 3001),
    { ...served('2B', 248_320), fills: ['spread', 'some not finite'] },
  ],
  fills: logitsFills,
  absent: { stress: 'nothing is summed in floating point' },
  expect: (_, { logits }) => ({ parts: { kind: 'exact', bits: greedyPartsReference(logits as Uint32Array) } }),
  sums: { none: 'nothing is summed in floating point' },
};
