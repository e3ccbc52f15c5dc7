import type { Contract, ContractShape } from '../contract.ts';
import { logitsFills } from '../shared/logits-fill.ts';
import { logitsChecksumReference } from './logits-checksum.reference.ts';
import { logitsChecksum, type LogitsChecksumShape } from './logits-checksum.ts';

const served = (name: string, n: number): ContractShape<LogitsChecksumShape> => ({ name: `${name} ${n}`, role: 'served', shape: { n } });

export const contract: Contract<LogitsChecksumShape> = {
  kernel: logitsChecksum,
  meaning:
    'result = [Σ mix(w + (i + 1)·0x9e3779b1), Σ mix(w xor mix(i + 0x27d4eb2f))] mod 2³² over the bits w of logit i, mix being MurmurHash3’s finaliser. ' +
    'One changed word always changes both; a swap of two words changes at least one, but for a chance of 2⁻⁶⁴.',
  bounds: 'None: integer arithmetic on bits is exact on every device.',
  families: { 'one-group': ['one-group'] },
  shapes: [
    served('smallest', 1),
    served('awkward', 2),
    served('awkward', 255),
    served('awkward', 257),
    served('awkward', 1000),
    served('tiny', 2048),
    { ...served('2B', 248_320), fills: ['spread', 'some not finite'] },
  ],
  fills: logitsFills,
  absent: { stress: 'nothing is summed in floating point' },
  expect: (_, { logits }) => ({ result: { kind: 'exact', bits: logitsChecksumReference(logits as Uint32Array) } }),
  sums: { none: 'nothing is summed in floating point' },
};
