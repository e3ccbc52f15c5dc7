/**
 * What `tune` chose, as decode takes it: a file of one `tune` record, good for the adapter and driver that it was measured on. A choice
 * changes a step's variant for another of the same family, so that no digest changes, unless the file was made across families.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Shape } from '../../kernels/contract.ts';
import { shapeText } from '../decode/ran.ts';
import type { Step } from '../decode/step.ts';
import { EngineRefused } from '../errors.ts';
import { slug } from '../gpu/instance.ts';
import { tuneRecord, type AdapterRecord, type TuneRecord } from '../protocol.ts';

type Choice = TuneRecord['choices'][number];

/** Where the choices for an adapter and driver lie when no file is named: `fleet/tuned` in the user's cache folder. */
export function tunedPath({ name, driver }: Pick<AdapterRecord, 'name' | 'driver'>, env: NodeJS.ProcessEnv = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'fleet', 'tuned', `${slug(`${name} ${driver}`)}.json`);
}

export class Choices {
  readonly path: string;
  readonly sha256: string;
  readonly #record: TuneRecord;

  private constructor(path: string, text: string, record: TuneRecord) {
    this.path = path;
    this.sha256 = createHash('sha256').update(text).digest('hex');
    this.#record = record;
  }

  /**
   * Reads a file of choices.
   * @param named the file; undefined: the one for this adapter and driver in the cache folder.
   * @throws EngineRefused when it is not there, malformed, or of another adapter or driver.
   */
  static read(named: string | undefined, adapter: Pick<AdapterRecord, 'name' | 'driver'>): Choices {
    const path = named ?? tunedPath(adapter);
    const next = `fleet engine tune --model DIR --adapter "${adapter.name}"${named === undefined ? '' : ` --out ${named}`}`;
    if (!existsSync(path)) throw new EngineRefused(`nothing was tuned for ${adapter.name}: there is no file ${path}`, next);
    const text = readFileSync(path, 'utf8');
    const parsed = tuneRecord.safeParse(parseJson(text));
    if (!parsed.success) throw new EngineRefused(`${path} is no file of choices that this engine reads`, next);
    const { data } = parsed;
    if (data.adapter !== adapter.name || data.driver !== adapter.driver) {
      const other =
        data.adapter === adapter.name ? `the driver "${data.driver}", and this one is "${adapter.driver}"` : `${data.adapter}, and this is ${adapter.name}`;
      throw new EngineRefused(`${path} was tuned on ${other}`, next);
    }
    return new Choices(path, text, data);
  }

  /** The step in the variant that was fastest for its shape; as it is where nothing was chosen, or another family was. */
  step(step: Step): Step {
    const variant = this.#variantFor(step);
    return variant === undefined ? step : { ...step, variant };
  }

  #variantFor({ kernel, shape, variant }: Step): string | undefined {
    const present = variant ?? kernel.variants[0]!;
    const candidates = this.#record.choices.filter(({ kernel: name, variants }) => name === kernel.name && variants.some((each) => each.variant === present));
    const near = candidates.map((choice) => ({ choice, far: rowsApart(choice.shape, shape) })).toSorted((a, b) => a.far - b.far)[0];
    if (!near || near.far === Infinity || !kernel.variants.includes(near.choice.variant)) return undefined;
    return near.choice.variant;
  }
}

/** How many times the rows of one shape are another's, as a logarithm; infinite where another field differs, or one row meets several. */
function rowsApart(chosen: Shape, asked: Shape): number {
  const fields = new Set([...Object.keys(chosen), ...Object.keys(asked)]);
  for (const field of fields) if (field !== 'rows' && chosen[field] !== asked[field]) return Infinity;
  const [a, b] = [chosen['rows'] ?? 1, asked['rows'] ?? 1];
  return (a === 1) === (b === 1) ? Math.abs(Math.log(a / b)) : Infinity;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The fastest of a choice's variants whose outputs are its family's, each by its best round: what else happens on a machine only adds (on an
 * H200 the median of five was once four times the best). `present` stays unless another is `margin` faster.
 */
export function fastest(present: string, variants: Choice['variants'], margin: number): string {
  const right = variants.filter(({ sameInFamily }) => sameInFamily);
  const best = right.toSorted((a, b) => a.bestMs - b.bestMs)[0];
  const now = right.find(({ variant }) => variant === present);
  if (!best) return present;
  return now && now.bestMs <= best.bestMs * (1 + margin) ? present : best.variant;
}

/** A choice for people. */
export function choiceLine({ kernel, shape, present, variant, variants }: Choice): string {
  const times = variants.map((each) => `${each.variant} ${each.bestMs.toFixed(5)}${each.sameInFamily ? '' : ' OUTPUT DIFFERS'}`);
  return `${kernel} ${shapeText(shape)}: ${variant === present ? `${present} stays` : `${variant} for ${present}`} (best ms: ${times.join(', ')})`;
}
