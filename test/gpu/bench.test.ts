/** `bench --kernel` on every adapter that opens: the figures fit each other, and a family's variants leave the same bits. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { maskLine } from '../../coordinator/core/mask.ts';
import { manifest, type ManifestSuite } from '../../coordinator/protocol/manifest.ts';
import { contract } from '../../kernels/qmm-q4/qmm-q4.contract.ts';
import { engineAdapters, only, recordsOn, runEngine } from '../support/engine.ts';

const suites = manifest.parse(JSON.parse(readFileSync(new URL('../../fleet.json', import.meta.url), 'utf8'))).suites as Record<'bench', ManifestSuite>;

describe.each((await engineAdapters()).map((adapter) => [adapter.name, adapter] as const))('%s', (_, adapter) => {
  it('times every variant of a projection and compares their outputs', async () => {
    const record = only(await recordsOn(adapter, 'bench', '--kernel', 'qmm-q4', '--shape', 'tiny down 1x', '--rounds', '2'), 'bench');
    expect([...record.variants, ...record.refused].map(({ variant }) => variant).toSorted()).toEqual(contract.kernel.variants.toSorted());
    // x and y, 4-bit codes, two bf16 a group of 64
    expect(record.bytes).toBe(4 * (768 + 256) + (256 * 768) / 2 + (2 * 2 * 256 * 768) / 64);
    for (const { ms, bestMs, gbPerS, share, family, outputSha256, sameInFamily } of record.variants) {
      expect(bestMs).toBeLessThanOrEqual(ms);
      expect(gbPerS).toBeCloseTo(record.bytes / ms / 1e6, 6);
      expect(share).toBeCloseTo(gbPerS / record.ceiling.gbPerS, 6);
      expect(sameInFamily).toBe(true);
      expect(outputSha256).toBe(record.variants.find((other) => other.family === family)!.outputSha256);
    }
  });

  it('runs every case of the suite, whose line differs between variants of a family in nothing but the time', async () => {
    const { command, cases, time } = suites.bench;
    const env: Record<string, string> = adapter.driverFiles === null ? {} : { VK_DRIVER_FILES: adapter.driverFiles };
    const at = command.indexOf('bench');
    const line = async (args: readonly string[]): Promise<ReturnType<typeof maskLine>> => {
      const filled = [...command.slice(at), ...args].map((word) =>
        word === '{adapter}' ? adapter.name : word === '{allow-software}' ? '--allow-software' : word,
      );
      const ran = await runEngine([...filled, '--rounds', '1'], env);
      expect([ran.status, ran.stdout.trimEnd().split('\n').length]).toEqual([0, 1]);
      return maskLine(ran.stdout.trimEnd());
    };
    for (const { args } of cases) expect((await line(args)).fields).toEqual([time]);
    const [scalar, vec4] = [await line([...cases[0]!.args, '--set', 'qmm=scalar']), await line([...cases[0]!.args, '--set', 'qmm=vec4'])];
    expect(vec4.masked).toBe(scalar.masked);
    expect(scalar.masked).toMatch(/^RESULT bench kernel=qmm-q4 .* output=[0-9a-f]{64} /);
  });
});

it('lists the shapes when none is named, and says when a kernel is unknown', async () => {
  const ran = await runEngine(['bench', '--kernel', 'qmm-q4']);
  expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining('--shape is missing; qmm-q4 has "smallest 1x1x64"')]);
  expect((await runEngine(['bench', '--kernel', 'qmm-q5', '--shape', 'tiny'])).status).toBe(2);
});
