/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { ContractRow } from '../../coordinator/protocol/verdict.ts';
import { clean } from '../show.ts';

/** Every kernel and planted control, head against head. Rows that are not `same` come first. */
export function ContractRows({ rows, id }: { readonly rows: readonly ContractRow[]; readonly id: string }): Child {
  if (rows.length === 0) return null;
  const ordered = [...rows.filter((row) => row.status !== 'same'), ...rows.filter((row) => row.status === 'same')];
  return (
    <>
      <h4 id={id}>Kernels and controls</h4>
      <div class="scroll" tabindex={0} role="region" aria-labelledby={id}>
        <table>
          <thead>
            <tr>
              <th scope="col">kernel or control</th>
              <th scope="col">head against head</th>
              <th scope="col">baseline</th>
              <th scope="col">candidate</th>
              <th scope="col">note</th>
            </tr>
          </thead>
          <tbody>
            {ordered.map((row) => (
              <tr>
                <th scope="row">{clean(row.kernel)}</th>
                <td class={row.status === 'same' || row.status === 'fixed' ? '' : 'alarm'}>{row.status}</td>
                <td>{clean(row.baseline)}</td>
                <td>{clean(row.candidate)}</td>
                <td>{row.note === '' ? '–' : clean(row.note)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
