/** The `--set KEY=VALUE` settings of decode: what an arm may change without changing the head. */
import type { DeviceNeed } from '../../kernels/contract.ts';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { EngineUsage } from '../errors.ts';
import type { DecoderOptions } from './decoder.ts';

interface Setting {
  readonly name: string;
  readonly what: string;
  readonly fallback: string;
  /** What it accepts, for people. */
  readonly accepts: string;
  valid(value: string): boolean;
}

/** Halves that qmm-q4-matrix takes of an element of x, by the value of `qmm-prompt`; undefined for what is a variant of qmm-q4. */
export function matrixParts(qmmPrompt: string): 1 | 2 | undefined {
  return qmmPrompt === 'matrix' ? 1 : qmmPrompt === 'matrix-2' ? 2 : undefined;
}

/** What settings need of the device: each need, and the setting that has it. */
export function needsOf(settings: Readonly<Record<string, string>>): ReadonlyMap<DeviceNeed, string> {
  const prompt = settings['qmm-prompt'] ?? '';
  return new Map(matrixParts(prompt) === undefined ? [] : [['subgroup-matrix', `--set qmm-prompt=${prompt}`]]);
}

function choice(name: string, what: string, values: readonly string[]): Setting {
  return { name, what, fallback: values[0]!, accepts: values.join(' | '), valid: (value) => values.includes(value) };
}

/** Every setting, the documented ones and no other. */
export const SETTINGS: readonly Setting[] = [
  choice('qmm', 'variant of qmm-q4 for the projections of one token', qmmQ4.variants),
  choice('qmm-prompt', 'projections of a prompt chunk: a variant of qmm-q4; auto: tile where it is filled, else tile-rows; matrix, matrix-2: on matrix units', [
    'auto',
    ...qmmQ4.variants,
    'matrix',
    'matrix-2',
  ]),
  choice('gdn-prompt', 'how the delta rule of a prompt chunk of several rows is computed', ['token-loop', 'chunked']),
  choice('sdpa', 'attention of one token: keys of a head in one workgroup, or split over workgroups', ['whole', 'split']),
  choice(
    'fusion',
    'whether the pass of one token runs in fused kernels: on, with the bits of qmm=split,sdpa=split; fixed, with those of qmm=fixed,sdpa=split',
    ['off', 'on', 'fixed'],
  ),
  {
    name: 'chunk',
    what: 'rows of the prompt that one prefill pass takes',
    fallback: '64',
    accepts: 'a whole number from 1 to 1024',
    valid: (value) => /^[1-9]\d{0,3}$/.test(value) && Number(value) <= 1024,
  },
];

/**
 * The effective settings.
 * @param given `KEY=VALUE` words; the last of a repeated key holds.
 * @throws EngineUsage for an unknown key or a value that it does not accept.
 */
export function parseSettings(given: readonly string[]): Record<string, string> {
  const effective = Object.fromEntries(SETTINGS.map(({ name, fallback }) => [name, fallback]));
  for (const word of given) {
    const at = word.indexOf('=');
    const [key, value] = at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
    const setting = SETTINGS.find(({ name }) => name === key);
    if (!setting) throw new EngineUsage(`--set ${word}: there is no setting "${key}"; there is ${SETTINGS.map(({ name }) => name).join(', ')}`);
    if (!setting.valid(value)) throw new EngineUsage(`--set ${word}: ${key} takes ${setting.accepts}`);
    effective[key] = value;
  }
  return effective;
}

/** The settings that the steps of a graph hang on, as the decoder takes them. */
export function variantsOf(settings: Readonly<Record<string, string>>): Omit<DecoderOptions, 'prompt' | 'context' | 'chunk' | 'choose'> {
  return {
    qmm: settings['qmm']!,
    qmmPrompt: settings['qmm-prompt']!,
    gdnPrompt: settings['gdn-prompt']!,
    sdpa: settings['sdpa'] === 'split' ? 'split' : 'whole',
    fusion: settings['fusion'] as DecoderOptions['fusion'],
  };
}
