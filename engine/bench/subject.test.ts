import { describe, expect, it } from 'vitest';
import { contract } from '../../kernels/qmm-q4/qmm-q4.contract.ts';
import { benchSubject, contentsOf, familyOf, launchesOf } from './subject.ts';

const LIMITS = {
  maxComputeWorkgroupsPerDimension: 65535,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupSizeZ: 64,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupStorageSize: 16384,
  maxStorageBuffersPerShaderStage: 8,
  maxStorageBufferBindingSize: 2 ** 27,
  maxBufferSize: 2 ** 28,
  maxUniformBufferBindingSize: 65536,
};

describe('benchSubject', () => {
  it('takes a part of one name, or every field', () => {
    expect(benchSubject(contract, '2B down 1x')).toMatchObject({ name: '2B down 1x2048x6144', shape: { rows: 1, n: 2048, k: 6144 }, fill: { name: 'exact' } });
    expect(benchSubject(contract, 'n=96,k=128,rows=2')).toMatchObject({
      name: 'n=96,k=128,rows=2',
      shape: { rows: 2, n: 96, k: 128 },
      fill: { name: 'spread' },
    });
  });

  it.each([
    [undefined, 'is missing'],
    ['2B', 'is in'],
    ['3B', 'is in 0 names'],
    ['n=96,k=128', 'must give k=…,n=…,rows=…'],
    ['n=96,k=x,rows=1', 'must give'],
    ['n=96,k=128,rows=1,m=1', 'must give'],
  ])('refuses %s and says what there is', (wanted, why) => {
    expect(() => benchSubject(contract, wanted)).toThrow(why);
    expect(() => benchSubject(contract, wanted)).toThrow('"2B down 1x2048x6144"');
  });

  it('fills a shape the same every time', () => {
    const subject = benchSubject(contract, 'tiny a/b');
    expect(contentsOf(subject)).toEqual(contentsOf(subject));
  });

  it('names the family of each variant that runs, and why others do not', () => {
    const subject = benchSubject(contract, 'tiny a/b');
    const { launches, refused } = launchesOf(subject, LIMITS);
    expect(refused).toEqual([]);
    for (const { variant } of launches) expect(contract.families[familyOf(subject, variant)]).toContain(variant);
    const ragged = launchesOf(benchSubject(contract, 'ragged'), LIMITS);
    expect(ragged.launches).toEqual([]);
    expect(ragged.refused[0]!.why).toContain('k a multiple of 64');
    expect(launchesOf(subject, { ...LIMITS, maxStorageBuffersPerShaderStage: 4 }).refused[0]!.why).toContain('needs 5 storage bindings');
  });
});
