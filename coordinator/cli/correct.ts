import type { Command } from 'commander';
import { figuresOf } from '../core/figures.ts';
import { runView } from '../protocol/run.ts';
import { CliError } from './cli-error.ts';
import { clientOf, runArgument, withService, type ServiceFlags } from './options.ts';
import { plain, print, printJson, table } from './output.ts';

interface CorrectFlags extends ServiceFlags {
  figure?: string;
  text?: string;
  list?: boolean;
}

/** `fleet correct RUN --figure NAME --text …`: what is wrong with a figure, appended to it; the figure itself stays. */
export function registerCorrect(program: Command): void {
  const command = program
    .command('correct')
    .description('append a correction to a figure of a run; every later report and page of the figure carries it')
    .argument('<run>', 'run id', runArgument)
    .option('--figure <name>', 'name of the figure, such as b60/decode#1/unicode/medianPercent')
    .option('--text <text>', 'what is wrong with it')
    .option('--list', 'print the names and values of the figures instead');
  withService(command).action(async (run: string, flags: CorrectFlags) => {
    const client = clientOf(flags);
    const route = `/api/runs/${run}`;
    if (flags.list) {
      const figures = figuresOf(await client.get(route, runView));
      if (flags.json) printJson({ schema: 1, run, figures });
      else
        print(
          table(
            ['figure', 'value'],
            figures.map(({ name, value }) => [name, String(value)]),
          ),
        );
      return;
    }
    if (flags.figure === undefined || flags.text === undefined)
      throw new CliError('a correction names its figure and says what is wrong with it', `fleet correct ${run} --figure NAME --text TEXT (names: --list)`);
    const view = await client.post(`${route}/corrections`, { figure: flags.figure, text: flags.text }, runView);
    const corrections = view.corrections ?? [];
    if (flags.json) printJson({ schema: 1, run, corrections });
    else print(`†${corrections.length} ${plain(flags.figure)}: ${plain(flags.text)}`);
  });
}
