/**
 * Child process of `contract --mutants`: opens the device once and judges one source after another. A process of its own,
 * because a mutant can hang a driver for good or take the process with it, and only ending the process gets the device back.
 *
 * Arguments: the adapter's name, the seed, launches a case, then what the kernels need of the device.
 */
import type { DeviceNeed } from '../../../kernels/contract.ts';
import { loadKernel, type RegistryEntry } from '../../../kernels/registry.ts';
import { ShaderInvalid } from '../../errors.ts';
import { openGpu } from '../../gpu/device.ts';
import type { Subject } from '../subject.ts';
import { judgeSource } from './judge.ts';
import { remembering } from '../remembering.ts';
import type { Answer, Question } from './messages.ts';

const say = (message: Answer): void => void process.send!(message);
const [adapter, seed, repeat, ...needs] = process.argv.slice(2);
// The command that started this process has asked for leave to run on software already.
const gpu = await openGpu({ adapter, allowSoftware: true, needs: needs as DeviceNeed[] });

let loaded: { readonly entry: RegistryEntry; readonly subject: Subject } | undefined;

async function subjectOf(kernel: string): Promise<Subject> {
  if (loaded?.entry.kernel.name !== kernel) {
    const entry = await loadKernel(kernel);
    if (!entry.contract) throw new Error(`${kernel} has no contract`);
    loaded = { entry, subject: { gpu, contract: remembering(entry.contract), seed: Number(seed), repeat: Number(repeat) } };
  }
  return loaded.subject;
}

async function answer({ kernel, edits }: Question): Promise<void> {
  try {
    const subject = await subjectOf(kernel);
    const judgement = await judgeSource(edits === null ? subject : { ...subject, edits }, () => say({ kind: 'step' }));
    say({ kind: 'judged', judgement });
  } catch (error) {
    // The text check of gate 1 reads WGSL too, and may refuse what the driver's compiler takes.
    if (error instanceof ShaderInvalid) return say({ kind: 'judged', judgement: { result: 'invalid' } });
    say({ kind: 'broke', reason: error instanceof Error ? error.message : String(error) });
  }
}

process.on('message', (question) => void answer(question as Question));
// The one that asks has gone, and nobody else would end this process. An orderly exit would wait for a hung driver's threads.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
say({ kind: 'ready' });
