/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { correctionsOf } from '../../coordinator/protocol/figures.ts';
import type { RunView } from '../../coordinator/protocol/run.ts';
import { clean, when } from '../show.ts';

/** †1 behind a figure that was corrected, linked to what was appended; nothing behind others. */
export function Mark({ view, names }: { readonly view: RunView; readonly names: readonly string[] }): Child {
  const numbers = correctionsOf(view, ...names);
  if (numbers.length === 0) return null;
  return (
    <>
      {numbers.map((number) => (
        <a class="mark" href={`#correction-${number}`} aria-label={`correction ${number}`}>
          †{number}
        </a>
      ))}
    </>
  );
}

/** What was appended to figures of the run, oldest first. */
export function Corrections({ view }: { readonly view: RunView }): Child {
  const rows = view.corrections ?? [];
  if (rows.length === 0) return null;
  return (
    <div class="warn">
      <p>Corrections. Figures stay as the records gave them; what was appended to them:</p>
      <ul>
        {rows.map((row, at) => (
          <li id={`correction-${at + 1}`}>
            †{at + 1} <code>{clean(row.figure)}</code>
            {row.run !== view.run && (
              <>
                {' '}
                of run <a href={`/runs/${row.run}`}>{row.run}</a>
              </>
            )}
            , <time datetime={row.at}>{when(row.at)}</time>: {clean(row.text)}
          </li>
        ))}
      </ul>
    </div>
  );
}
