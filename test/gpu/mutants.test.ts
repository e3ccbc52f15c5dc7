/** The judging process of `contract --mutants` on a real driver: what it says of sound, faulty, broken and endless shaders. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JudgingProcess, type Reply } from '../../engine/contract/mutants/judging-process.ts';
import { openAnyGpu } from './against-reference.ts';

const kernel = 'residual-add';
const shipped = readFileSync(new URL(`../../kernels/${kernel}/${kernel}.wgsl`, import.meta.url), 'utf8');

const SUM = 'out[i] = a[i] + b[i];';

let judging: JudgingProcess;

beforeAll(async () => {
  const gpu = await openAnyGpu();
  const { name: adapter, evidence } = gpu.adapter;
  gpu.close();
  judging = new JudgingProcess({ adapter, evidence, seed: 1, repeat: 2 });
});

afterAll(() => judging.close());

async function ask(source: string | null): Promise<Reply> {
  return (await judging.ask({ kernel, source }, 5_000)).reply;
}

test('a shader that hangs the driver is given up, and the next one is judged on a device opened anew', async () => {
  expect(await ask(null)).toEqual({ result: 'green' });
  const endless = shipped.replace(SUM, 'loop { out[i] = a[i] + b[i]; if (out[i] == 12345.0) { break; } }');
  expect(endless).not.toBe(shipped);
  expect(await ask(endless)).toMatchObject({ result: 'hung' });
  expect(await ask(`${shipped}// harmless\n`)).toEqual({ result: 'green' });
});

test('an edit that does not compile is no mutant, and a wrong one names its gate', async () => {
  expect(await ask(`${shipped}fn (`)).toEqual({ result: 'invalid' });
  const wrong = shipped.replace(SUM, 'out[i] = a[i] - b[i];');
  expect(wrong).not.toBe(shipped);
  expect(await ask(wrong)).toMatchObject({ result: 'red' });
});
