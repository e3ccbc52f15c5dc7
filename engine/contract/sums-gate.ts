/**
 * Gate 4: a bound that a 16-bit accumulator would keep as well shows nothing about the sum. Each part's sum is replayed on
 * the host: in float32 it must keep the bound, in fp16 and bf16 it must miss it, and the device's own output must keep it.
 */
import type { BoundedOutput, SumFormat, SumPart } from '../../kernels/contract.ts';
import { SUM_FORMATS } from './accumulators.ts';
import { CaseRun } from './case-run.ts';
import { compareOutput } from './compare.ts';
import { withoutGuards } from './guards.ts';
import { fillCase, launchOf, type Subject } from './subject.ts';
import { Tally } from './tally.ts';

/** Replays every part and runs it on the device. */
export async function sumsGate(subject: Subject): Promise<Tally> {
  const { contract } = subject;
  const tally = new Tally();
  if ('none' in contract.sums) {
    tally.skip(contract.sums.none);
    return tally;
  }
  for (const part of contract.sums) await holdPart(subject, part, tally);
  return tally;
}

async function holdPart(subject: Subject, part: SumPart, tally: Tally): Promise<void> {
  const { gpu, contract, edits } = subject;
  const fill = contract.fills.find(({ name }) => name === part.fill);
  if (fill?.kind !== 'stress') throw new Error(`${contract.kernel.name}: the sum ${part.name} names the fill ${part.fill}, which is no stress fill`);
  const contents = fillCase(subject, { name: part.name, role: 'served', shape: part.shape }, fill);
  const expected = contract.expect(part.shape, contents, part.family)[part.output];
  if (expected?.kind !== 'bounded') throw new Error(`${contract.kernel.name}: the sum ${part.name} ends in ${part.output}, which is no bounded output`);

  const single = misses(expected, part.replay(part.shape, contents, Math.fround));
  tally.add(1, part.name, single.count === 0 ? '' : `the bound is too tight: float32 replayed on the host misses it by ${single.margin.toPrecision(3)}`);
  for (const [format, round] of Object.entries(SUM_FORMATS)) {
    if (part.cannot?.[format as SumFormat] !== undefined) continue;
    const replayed = misses(expected, part.replay(part.shape, contents, round));
    tally.add(1, part.name, replayed.count > 0 ? '' : `an accumulator in ${format} keeps the bound (${replayed.margin.toPrecision(3)} of it)`);
  }

  const run = new CaseRun(gpu, contract.kernel, part.shape, contents);
  try {
    for (const variant of contract.families[part.family] ?? []) {
      // One red variant says it; compiling the others is most of a planted fault's time on a CPU driver.
      if (tally.failed) return;
      const launch = launchOf(contract, part.shape, variant);
      const where = `${part.name}/${variant}`;
      if (launch instanceof Error) {
        tally.add(1, where, `refused: ${launch.message}`);
        continue;
      }
      const words = withoutGuards((await run.launch(launch, edits))[part.output]!);
      const { checks, fault } = compareOutput(expected, words, withoutGuards(run.initial(part.output)));
      tally.add(checks, where, fault === '' ? '' : `the device's sum: ${fault}`);
    }
  } finally {
    run.close();
  }
}

/** How many elements are over the spec bound, and the worst as a fraction of it. */
function misses(expected: BoundedOutput, replayed: Float64Array): { count: number; margin: number } {
  let count = 0;
  let margin = 0;
  for (let i = 0; i < replayed.length; i++) {
    const error = Math.abs(replayed[i]! - expected.values[i]!);
    const spec = expected.spec[i]!;
    // An accumulator that overflowed to NaN misses like one that overflowed to infinity.
    const fraction = Number.isNaN(error) ? Infinity : error === 0 ? 0 : error / spec;
    if (fraction > 1) count++;
    margin = Math.max(margin, fraction);
  }
  return { count, margin };
}
