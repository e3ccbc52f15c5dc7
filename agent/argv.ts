/** A leg's argument vector, as coordinator/protocol/manifest.ts defines it. */
import type { Evidence } from '../engine/protocol.ts';

export interface ArgvInput {
  command: readonly string[];
  args: readonly string[];
  /** Whether the suite takes settings. */
  takesSettings: boolean;
  settings: Readonly<Record<string, string>>;
  case: string;
  adapter: string;
  evidence: Evidence;
  recordsFile: string;
  outFolder: string;
  /** Null where the case pins nothing. */
  pinnedFile: string | null;
  /** Null where no rows are compared. */
  logitsFile: string | null;
}

/**
 * Builds the vector: command, case arguments, then `--set NAME=VALUE` for each setting in name order, with placeholders replaced.
 * An argument that holds `{pinned}` or `{logits}` vanishes, with the one before it, where there is no such file.
 */
export function buildArgv(input: ArgvInput): string[] {
  const settings = input.takesSettings
    ? Object.entries(input.settings)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([name, value]) => ['--set', `${name}=${value}`])
    : [];
  const values: Readonly<Record<string, string>> = {
    records: input.recordsFile,
    out: input.outFolder,
    adapter: input.adapter,
    case: input.case,
    pinned: input.pinnedFile ?? '',
    logits: input.logitsFile ?? '',
  };
  const given = [...input.command, ...input.args];
  const absent = [...(input.pinnedFile === null ? ['{pinned}'] : []), ...(input.logitsFile === null ? ['{logits}'] : [])];
  const vanishes = (argument: string | undefined): boolean => absent.some((placeholder) => argument?.includes(placeholder));
  const argv: string[] = [];
  for (const [index, argument] of given.entries()) {
    if (vanishes(argument) || vanishes(given[index + 1])) continue;
    if (argument === '{allow-software}') {
      if (input.evidence === 'software') argv.push('--allow-software');
      continue;
    }
    // One pass over the text, so that an adapter's name cannot smuggle in another placeholder.
    argv.push(argument.replace(/\{(records|out|adapter|case|pinned|logits)\}/g, (_, name: string) => values[name]!));
  }
  return [...argv, ...settings];
}
