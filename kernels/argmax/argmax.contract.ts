import type { Contract, ContractShape } from '../contract.ts';
import { logitsFills } from '../shared/logits-fill.ts';
import { argmaxReference } from './argmax.reference.ts';
import { argmax, type ArgmaxShape } from './argmax.ts';

const served = (name: string, n: number): ContractShape<ArgmaxShape> => ({ name: `${name} ${n}`, role: 'served', shape: { n } });

export const contract: Contract<ArgmaxShape> = {
  kernel: argmax,
  meaning:
    'result = [id, 1 when every logit is finite else 0, index of the first that is not or 0xffffffff, 0]. id is the lowest index of the largest finite logit, ' +
    '−0 equal to +0 and subnormals not flushed, or 0xffffffff where none is finite.',
  bounds: 'None: integer arithmetic on bits is exact on every device.',
  families: { 'one-group': ['one-group'] },
  shapes: [
    served('smallest', 1),
    served('awkward', 2),
    served('awkward', 255),
    served('awkward', 257),
    served('awkward', 1000),
    served('tiny', 2048),
    served('2B', 248_320),
  ],
  fills: logitsFills,
  absent: { stress: 'nothing is summed in floating point' },
  expect: (_, { logits }) => ({ result: { kind: 'exact', bits: argmaxReference(logits as Uint32Array) } }),
  sums: { none: 'nothing is summed in floating point' },
};
