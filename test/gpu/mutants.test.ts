/** The judging process of `contract --mutants` on a real driver: what it says of sound, faulty, broken and endless shaders. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JudgingProcess, type Reply } from '../../engine/contract/mutants/judging-process.ts';
import { shippedShader } from '../../engine/gpu/kernel-source.ts';
import { openAnyGpu } from './against-reference.ts';

const kernel = 'residual-add';
const own = `${kernel}/${kernel}.wgsl`;
const GRID = 'shared/linear-group.wgsl';
const shipped = shippedShader(own);

const SUM = 'out[i] = a[i] + b[i];';

let judging: JudgingProcess;

beforeAll(async () => {
  const gpu = await openAnyGpu();
  const { name: adapter, evidence } = gpu.adapter;
  gpu.close();
  judging = new JudgingProcess({ adapter, evidence, seed: 1, repeat: 2 });
});

afterAll(() => judging.close());

async function ask(source: string | null, file = own): Promise<Reply> {
  return (await judging.ask({ kernel, edits: source === null ? null : { [file]: source } }, 5_000)).reply;
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

test('an include is edited like the shader itself', async () => {
  expect(await ask(`${shippedShader(GRID)}// harmless\n`, GRID)).toEqual({ result: 'green' });
  const wrong = shippedShader(GRID).replace('grid.x + group.x', 'grid.x - group.x');
  expect(wrong).not.toBe(shippedShader(GRID));
  expect(await ask(wrong, GRID)).toMatchObject({ result: 'red' });
});
