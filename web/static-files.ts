/** The style sheet, the module and the icon: read once, named by content, so that browsers may keep them for good. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface StaticFile {
  readonly body: string;
  readonly type: string;
  /** First hex digits of the body's SHA-256. */
  readonly version: string;
}

const TYPES = { 'style.css': 'text/css; charset=utf-8', 'page.js': 'text/javascript; charset=utf-8', 'icon.svg': 'image/svg+xml' } as const;
export type StaticName = keyof typeof TYPES;

const files = new Map<string, StaticFile>(
  Object.entries(TYPES).map(([name, type]) => {
    const body = readFileSync(new URL(`./static/${name}`, import.meta.url), 'utf8');
    return [name, { body, type, version: createHash('sha256').update(body).digest('hex').slice(0, 12) }];
  }),
);

/** A file of web/static, or undefined: nothing but the listed names is ever read. */
export function staticFile(name: string): StaticFile | undefined {
  return files.get(name);
}

/** The address of a file with its version. */
export function staticUrl(name: StaticName): string {
  return `/static/${name}?v=${files.get(name)!.version}`;
}
