/** Exact counts of one token, on every adapter that opens. */
import { describe, expect, it } from 'vitest';
import { engineAdapters, only, recordsOn, runEngine } from '../support/engine.ts';

const model = new URL('../../engine/models/qwen3.5-tiny-books', import.meta.url).pathname;

describe.each((await engineAdapters()).map((adapter) => [adapter.name, adapter] as const))('%s', (_, adapter) => {
  it('gives one submit, four bytes and the same dispatches a token, whatever the prompt', async () => {
    const short = await recordsOn(adapter, 'decode', '--model', model, '--prompt', 'unicode', '--two-length', '2,5');
    const { perToken, runs } = only(short, 'two-length');
    expect(perToken).toMatchObject({ submits: { token: 1 }, bytesReadBack: 4, dispatches: { argmax: 1, 'logits-checksum': 1 } });
    expect(runs.map(({ steps }) => steps)).toEqual([2, 5]);
    expect(only(short, 'decode')).toMatchObject({ steps: 5, counters: runs[1].counters, checksumsMatch: true });
    const chunked = await recordsOn(adapter, 'decode', '--model', model, '--prompt', 'unicode', '--two-length', '1,3', '--set', 'chunk=16');
    expect(only(chunked, 'two-length').perToken).toEqual(perToken);
  });
});

it.each(['4', '4,4', '12,4', '1,2,3', 'a,b'])('refuses --two-length %s', async (lengths) => {
  expect((await runEngine(['decode', '--model', model, '--prompt', 'unicode', '--two-length', lengths])).status).toBe(2);
});
