import { Option, type Command } from 'commander';
import { clientOf, runArgument, withService, type ServiceFlags } from './options.ts';

/** `fleet report RUN`: the run from its stored records, as Markdown, JSON or CSV, printed as the coordinator renders it. */
export function registerReport(program: Command): void {
  const command = program
    .command('report')
    .description('print a run from its stored records')
    .argument('<run>', 'run id', runArgument)
    .addOption(new Option('--format <format>', 'how to print it').choices(['markdown', 'json', 'csv']));
  withService(command).action(async (run: string, flags: ServiceFlags & { format?: 'markdown' | 'json' | 'csv' }) => {
    const format = flags.format ?? (flags.json ? 'json' : 'markdown');
    const text = await clientOf(flags).text(`/api/runs/${run}/report?format=${format}`);
    process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  });
}
