/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { Identity } from '../../coordinator/protocol/verdict.ts';
import { clean, short } from '../show.ts';

/** Output identity of every decode case: both digests, and where they first part. */
export function Identities({ rows, id }: { readonly rows: readonly Identity[]; readonly id: string }): Child {
  if (rows.length === 0) return null;
  return (
    <>
      <h4 id={id}>Output</h4>
      <div class="scroll" tabindex={0} role="region" aria-labelledby={id}>
        <table>
          <thead>
            <tr>
              <th scope="col">case</th>
              <th scope="col">output</th>
              <th scope="col">baseline digest</th>
              <th scope="col">candidate digest</th>
              <th scope="col" class="n">
                first differing step
              </th>
              <th scope="col">pinned ids</th>
              <th scope="col">note</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                <th scope="row">{row.case}</th>
                <td class={row.status === 'same' ? '' : 'alarm'}>
                  {row.status}
                  {row.logits !== undefined && <span class="aside"> agent-attested</span>}
                </td>
                <td>
                  <Digest value={row.baselineDigest} />
                </td>
                <td>
                  <Digest value={row.candidateDigest} />
                </td>
                <td class="n">{row.firstDifferingStep ?? '–'}</td>
                <td class={row.pinnedIdsMatch === false ? 'alarm' : ''}>
                  {row.pinnedIdsMatch === null ? 'none pinned' : row.pinnedIdsMatch ? 'met' : 'missed'}
                </td>
                <td class={row.note === '' ? '' : 'text'}>{clean(row.note)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Digest({ value }: { readonly value: string | null }): Child {
  return value === null ? <>–</> : <code title={value}>{short(value)}</code>;
}
