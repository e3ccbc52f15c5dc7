/**
 * Gate 1: the pipeline asked for is the one that ran. Numbers cannot show that: two variants of a family compute the same.
 * So each variant's entry point is silenced in turn (it returns at once): what ran must then leave its outputs unwritten,
 * and silencing all the others must change nothing. Before that, the shader's text must say what the host side says.
 */
import type { ContractShape, Kernel, Launch } from '../../kernels/contract.ts';
import { ownShader } from '../../kernels/plant.ts';
import { kernelSource, shippedShader, type Edits } from '../gpu/kernel-source.ts';
import { CaseRun } from './case-run.ts';
import { guardFault, withoutGuards } from './guards.ts';
import { silence } from './silence.ts';
import { shaderFault } from './shader-text.ts';
import { fillCase, launchOf, sizeOf, type Subject } from './subject.ts';
import { Tally } from './tally.ts';
import { differenceFault } from './written.ts';

/** Judges every variant on the smallest served shape. */
export async function launchGate(subject: Subject): Promise<Tally> {
  const { gpu, contract, edits } = subject;
  const { kernel } = contract;
  const tally = new Tally();
  const { text } = kernelSource(kernel, edits);
  const shape = smallestServed(subject);
  const fill = contract.fills[0];
  if (!shape || !fill) throw new Error(`${kernel.name}: the contract has no served shape or no fill`);
  const launches = kernel.variants.map((variant) => ({ variant, launch: launchOf(contract, shape.shape, variant) }));
  const run = new CaseRun(gpu, kernel, shape.shape, fillCase(subject, shape, fill));
  try {
    const sound: Launch[] = [];
    for (const { variant, launch } of launches) {
      const fault = launch instanceof Error ? `refuses the served shape ${shape.name}: ${launch.message}` : shaderFault(kernel, launch, text);
      tally.add(1, variant, fault);
      if (fault === '' && !(launch instanceof Error)) sound.push(launch);
    }
    for (const [index, launch] of sound.entries()) {
      const twin = sound.slice(0, index).find((other) => requestOf(other) === requestOf(launch));
      tally.add(1, launch.variant, twin ? `${launch.variant} and ${twin.variant} ask for the same launch` : '');
    }
    for (const launch of sound) await holdMechanism(tally, run, kernel, edits ?? {}, launch, sound);
  } finally {
    run.close();
  }
  return tally;
}

/** What a launch asks for. Two variants that ask for the same thing are one variant under two names. */
function requestOf({ entryPoint, constants, workgroups, params }: Launch): string {
  return JSON.stringify([entryPoint, constants, workgroups, [...params]]);
}

function smallestServed(subject: Subject): ContractShape | undefined {
  const { contract } = subject;
  return contract.shapes.filter(({ role }) => role === 'served').toSorted((a, b) => sizeOf(contract, a.shape) - sizeOf(contract, b.shape))[0];
}

async function holdMechanism(tally: Tally, run: CaseRun, kernel: Kernel, edits: Edits, launch: Launch, all: readonly Launch[]): Promise<void> {
  const own = ownShader(kernel);
  const source = edits[own] ?? shippedShader(own);
  const normal = await run.launch(launch, edits);
  const written = Object.entries(normal).some(([name, words]) => differenceFault(name, run.initial(name), words) !== '');
  tally.add(1, launch.variant, written ? '' : 'the launch wrote nothing');
  // Where a pipeline has constants, it is silenced only where it has those of the launch: one compilation shows that it got them all.
  const constants = Object.entries(launch.constants).map(([name, value]) => `${name} == ${value}`);
  const silenced = await run.launch(launch, { ...edits, [own]: silence(source, launch, constants.length > 0 ? constants.join(' && ') : undefined) });
  for (const [name, words] of Object.entries(silenced)) {
    const fault = guardFault(name, words) || differenceFault(name, withoutGuards(run.initial(name)), withoutGuards(words));
    const where = constants.length > 0 ? ` where ${constants.join(' && ')}` : '';
    const cause = constants.length > 0 ? 'something else, or a pipeline of other constants, still wrote' : 'something else still wrote';
    tally.add(1, launch.variant, fault === '' ? '' : `with ${launch.entryPoint} silenced${where} ${cause}: ${fault}`);
  }
  // What an entry point needs of the others is the same for all its launches.
  if (launch !== all.find(({ entryPoint }) => entryPoint === launch.entryPoint)) return;
  const others = [...new Map(all.map((other) => [other.entryPoint, other])).values()].filter((other) => other.entryPoint !== launch.entryPoint);
  if (others.length === 0) return;
  const without = await run.launch(launch, { ...edits, [own]: others.reduce((text, other) => silence(text, other), source) });
  for (const [name, words] of Object.entries(without)) {
    const fault = differenceFault(name, withoutGuards(normal[name]!), withoutGuards(words));
    tally.add(
      1,
      launch.variant,
      fault === '' ? '' : `it depends on the entry point of another variant (${others.map(({ entryPoint }) => entryPoint).join(', ')}): ${fault}`,
    );
  }
}
