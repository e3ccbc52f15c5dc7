/** Corrections beside the figures they correct. The figure stays as the records gave it; what is wrong with it stands next to it. */
import { correctionsOf } from '../protocol/figures.ts';
import type { RunView } from '../protocol/run.ts';
import { figuresOf } from './figures.ts';

/** ` **†1**` behind a figure that was corrected; nothing behind others. */
export const marks = (view: RunView, ...names: readonly string[]): string =>
  correctionsOf(view, ...names)
    .map((number) => ` **†${number}**`)
    .join('');

/** The list that the marks point into. @param code makes a text safe for Markdown. */
export function correctionList(view: RunView, code: (text: string, most?: number) => string): string {
  if (!view.corrections?.length) return '';
  const values = new Map(figuresOf(view).map((figure) => [figure.name, figure.value]));
  const rows = view.corrections.map(({ figure, text, at, run }, index) => {
    const stored = run === view.run && values.has(figure) ? ` (stored: ${code(String(values.get(figure)))})` : run === view.run ? '' : ` of run ${run}`;
    return `- **†${index + 1}** ${code(figure)}${stored}, corrected ${at}: ${code(text, 2000)}`;
  });
  return `**Corrections.** Figures stay as the records gave them; what was appended to them:\n\n${rows.join('\n')}`;
}
