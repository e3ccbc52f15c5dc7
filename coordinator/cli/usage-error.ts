/** Mistakes in a command line, as commander words them, in our one line: what, why, and the command that helps. */
import type { Command } from 'commander';

/**
 * @param text of commander, such as `error: unknown option '--head'`, with its "Did you mean" on a line of its own.
 * @param command as typed, such as `fleet submit`.
 */
export function usageLine(text: string, command: string): string {
  const what = text
    .replace(/^error: /, '')
    .replace(/[.\s]+$/, '')
    .replace(/\s*\n\s*/g, ' ');
  // A word too many after `--heads main` is the second arm of a list that was typed with a space.
  const comma = what.startsWith('too many arguments') && / (submit|demo)$/.test(command) ? '; lists have commas between their items, such as main,HEAD' : '';
  const next = what.startsWith("missing required argument 'run'") ? 'fleet status lists the runs' : `${command} --help`;
  return `fleet: ${what}${comma}. next: ${next}\n`;
}

/** Gives a command, and all under it, errors that name its own help. */
export function nameOwnHelp(command: Command, path: string): void {
  command.configureOutput({ outputError: (text, write) => write(usageLine(text, path)) });
  for (const child of command.commands) nameOwnHelp(child, `${path} ${child.name()}`);
}
