/** Reads a head's fleet.json and the ids that its cases pin. */
import { z } from 'zod';
import { manifest, type Manifest } from '../protocol/manifest.ts';
import { Refusal } from '../refusal.ts';
import type { Heads } from './repository.ts';

const short = (head: string): string => head.slice(0, 12);
const NEXT = 'correct fleet.json in that commit (its keys: coordinator/protocol/manifest.ts) and submit again';

/** @throws Refusal no-manifest or bad-manifest; the message names the head and the key. */
export async function readManifest(heads: Heads, head: string): Promise<Manifest> {
  const bytes = await heads.show(head, 'fleet.json');
  if (bytes === null) {
    throw new Refusal(
      'no-manifest',
      `head ${short(head)} has no fleet.json, so fleet does not know what to run`,
      'commit a fleet.json at the root of the repository (coordinator/README.md, "fleet.json") and submit again',
    );
  }
  const parsed = manifest.safeParse(parseJson(bytes, `fleet.json of ${short(head)}`));
  if (parsed.success) {
    for (const [name, suite] of Object.entries(parsed.data.suites)) {
      const twice = suite.cases.find((item, at) => suite.cases.findIndex((other) => other.name === item.name) !== at);
      if (twice) throw new Refusal('bad-manifest', `fleet.json of ${short(head)}: suites.${name}.cases names "${twice.name}" twice`, NEXT);
    }
    return parsed.data;
  }
  const issues = parsed.error.issues.slice(0, 3).map((issue) => `${keyOf(issue.path)}: ${issue.message}`);
  throw new Refusal('bad-manifest', `fleet.json of ${short(head)}: ${issues.join('; ')}`, NEXT);
}

const pinnedFile = z.union([z.array(z.int().min(0)), z.object({ ids: z.array(z.int().min(0)) }).transform((file) => file.ids)]);

/** The ids that a case must produce: `path` holds an array of ids, or an object with `ids`. @throws Refusal bad-manifest. */
export async function readPinnedIds(heads: Heads, head: string, path: string): Promise<number[]> {
  const bytes = await heads.show(head, path);
  if (bytes === null) throw new Refusal('bad-manifest', `fleet.json of ${short(head)} pins ids in ${path}, which that head does not have`, NEXT);
  const parsed = pinnedFile.safeParse(parseJson(bytes, `${path} of ${short(head)}`));
  if (!parsed.success) throw new Refusal('bad-manifest', `${path} of ${short(head)} is neither an array of ids nor an object with "ids"`, NEXT);
  return parsed.data;
}

function parseJson(bytes: Buffer, what: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new Refusal('bad-manifest', `${what} is not JSON: ${(cause as Error).message}`, NEXT, cause);
  }
}

function keyOf(path: readonly PropertyKey[]): string {
  return path.length === 0
    ? '(the whole file)'
    : path
        .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
        .join('')
        .replace(/^\./, '');
}
