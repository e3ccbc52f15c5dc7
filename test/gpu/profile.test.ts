/** The profiling mode: the same work as decoding, dispatch for dispatch, beside the timed pass and not in it. */
import { describe, expect, it } from 'vitest';
import { engineAdapters, only, recordsOn } from '../support/engine.ts';

const model = new URL('../../engine/models/qwen3.5-tiny-books', import.meta.url).pathname;
const found = (await engineAdapters()).filter(({ features }) => features.includes('timestamp-query'));

describe.each(found.map((adapter) => [adapter.name, adapter] as const))('%s', (_, adapter) => {
  it('profiles every dispatch of a token, and leaves the timed counts alone', async () => {
    const options = ['--model', model, '--prompt', 'unicode', '--two-length', '2,4'];
    const records = await recordsOn(adapter, 'decode', ...options, '--profile');
    const { profile, counters, checksumsMatch } = only(records, 'decode');
    const plain = await recordsOn(adapter, 'decode', ...options);
    expect(checksumsMatch).toBe(true);
    expect(counters).toEqual(only(plain, 'decode').counters);
    expect(only(plain, 'decode').profile).toBeUndefined();
    const { perToken } = only(records, 'two-length');
    const byKernel: Record<string, number> = {};
    for (const { dispatch, dispatches } of profile!.token) {
      const kernel = dispatch.split('/')[0]!;
      byKernel[kernel] = (byKernel[kernel] ?? 0) + dispatches;
    }
    expect(byKernel).toEqual(perToken.dispatches);
    expect(profile!.tokens).toBe(3);
    expect(profile!.tokenGpuMs).toBeCloseTo(
      profile!.token.reduce((sum, { gpuMs }) => sum + gpuMs, 0),
      6,
    );
    expect(profile!.tokenGpuMs).toBeGreaterThan(0);
    expect(profile!.hostMs).toBeGreaterThan(0);
  });
});
