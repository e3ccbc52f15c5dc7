/** How the engine starts a Node process that can run its own TypeScript, from any working directory. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Arguments before the script's path. */
export function nodeArguments(): string[] {
  return ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];
}
