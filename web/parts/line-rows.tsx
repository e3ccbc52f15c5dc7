/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import { diffWordsWithSpace } from 'diff';
import type { Child } from 'hono/jsx';
import type { LineRow } from '../../coordinator/protocol/verdict.ts';
import { clean, count } from '../show.ts';

/** More equal lines than this fold away; lines that differ never do. */
const SHOWN_EQUAL = 12;

/** Both arms' lines side by side after masking, with the masked fields named, and words that differ marked. */
export function LineRows({ rows, id, title }: { readonly rows: readonly LineRow[]; readonly id: string; readonly title: string }): Child {
  if (rows.length === 0) return null;
  const masked = [...new Set(rows.flatMap((row) => row.masked))];
  const equal = rows.filter((row) => row.status === 'equal');
  const fold = equal.length > SHOWN_EQUAL;
  const open = fold ? rows.filter((row) => row.status !== 'equal') : rows;
  return (
    <>
      <h4 id={id}>
        {title}{' '}
        <span class="aside">
          {equal.length} of {count(rows.length, 'line')} equal
        </span>
      </h4>
      <p class="note">
        {masked.length === 0 ? 'No field is masked: the lines are compared as printed.' : 'Masked before comparing: '}
        {masked.map((field, i) => (
          <>
            {i > 0 && ', '}
            <code>{clean(field)}</code>
          </>
        ))}
        {masked.length > 0 && '. Counts are never masked.'}
      </p>
      {open.length > 0 && <Lines rows={open} id={id} />}
      {fold && (
        <details id={`${id}-equal`}>
          <summary>{count(equal.length, 'equal line')}</summary>
          <Lines rows={equal} id={id} />
        </details>
      )}
    </>
  );
}

function Lines({ rows, id }: { readonly rows: readonly LineRow[]; readonly id: string }): Child {
  return (
    <div class="scroll" tabindex={0} role="region" aria-labelledby={id}>
      <table class="wide lines">
        <thead>
          <tr>
            <th scope="col">case</th>
            <th scope="col">line</th>
            <th scope="col">baseline</th>
            <th scope="col">candidate</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              <th scope="row">{row.case}</th>
              <td class={row.status === 'equal' ? '' : 'alarm'}>{row.status}</td>
              <td>
                <Line row={row} side="baseline" />
              </td>
              <td>
                <Line row={row} side="candidate" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ row, side }: { readonly row: LineRow; readonly side: 'baseline' | 'candidate' }): Child {
  const text = row[side];
  if (text === null) return <span class="dim">no line</span>;
  if (row.status !== 'differs' || row.baseline === null || row.candidate === null) return <code>{clean(text)}</code>;
  const hidden = side === 'baseline' ? 'added' : 'removed';
  return (
    <code>
      {diffWordsWithSpace(clean(row.baseline), clean(row.candidate))
        .filter((part) => !part[hidden])
        .map((part) => (part.added || part.removed ? <mark>{part.value}</mark> : <>{part.value}</>))}
    </code>
  );
}
