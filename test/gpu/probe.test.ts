/** The probe on every adapter that opens: it checks its own sums on the device, and its figures must fit each other. */
import { describe, expect, it } from 'vitest';
import { engineAdapters, only, recordsOn } from '../support/engine.ts';

describe.each((await engineAdapters()).map((adapter) => [adapter.name, adapter] as const))('%s', (_, adapter) => {
  it('measures every size that fits, both latencies and the cost of a dispatch', async () => {
    const record = only(await recordsOn(adapter, 'probe'), 'probe');
    expect(record.adapter).toBe(adapter.name);
    expect(record.readStream.length).toBeGreaterThan(0);
    for (const { bytes, ms, gbPerS } of record.readStream) {
      expect(bytes).toBeLessThanOrEqual(adapter.limits['maxStorageBufferBindingSize']!);
      expect(gbPerS).toBeCloseTo(bytes / ms / 1e6, 6);
    }
    expect(record.readCeilingGbPerS).toBe(record.readStream.at(-1)!.gbPerS);
    expect(record.timestamps.available).toBe(adapter.features.includes('timestamp-query'));
    expect(record.clock).toBe(record.timestamps.trusted ? 'timestamp' : 'wall');
    expect(record.dispatch.gpuUs === null).toBe(!record.timestamps.trusted);
    for (const { p50Us, p99Us } of [record.submitWait, record.submitMap]) expect(p99Us).toBeGreaterThanOrEqual(p50Us);
  });
});
