import { describe, expect, it } from 'vitest';
import type { AdapterRecord } from '../engine/protocol.ts';
import { chooseAdapter } from './inventory.ts';

const adapter = (name: string, evidence: 'gpu' | 'software'): AdapterRecord => ({
  schema: 1,
  kind: 'adapter',
  name,
  vendor: '',
  architecture: '',
  device: '',
  description: '',
  backend: 'vulkan',
  evidence,
  driver: '',
  driverFiles: null,
  features: [],
  limits: {},
  subgroupMinSize: null,
  subgroupMaxSize: null,
});
const found = [adapter('llvmpipe (LLVM 15)', 'software'), adapter('Intel(R) Arc(TM) Pro B60', 'gpu')];

describe('chooseAdapter', () => {
  it('matches part of a name in any case', () => {
    expect(chooseAdapter(found, 'arc', false).name).toContain('B60');
  });

  it('serves a software driver only when asked to', () => {
    expect(chooseAdapter(found, 'llvmpipe', true).evidence).toBe('software');
    expect(() => chooseAdapter(found, 'llvmpipe', false)).toThrow(
      'no GPU matches "llvmpipe": found "llvmpipe (LLVM 15)" (software), "Intel(R) Arc(TM) Pro B60" (gpu); "llvmpipe (LLVM 15)" is a software driver, which is refused without --allow-software',
    );
  });

  it('names what was found where nothing matches', () => {
    expect(() => chooseAdapter(found, 'radeon', false)).toThrow('no adapter matches "radeon": found "llvmpipe (LLVM 15)" (software)');
  });

  it('prefers a GPU where both match', () => {
    expect(chooseAdapter([adapter('X', 'software'), adapter('X', 'gpu')], 'x', true).evidence).toBe('gpu');
  });

  it('says that nothing opens', () => {
    expect(() => chooseAdapter([], 'b60', true)).toThrow('no adapter opens on this host');
  });
});
