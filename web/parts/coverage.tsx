/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { RunView } from '../../coordinator/protocol/run.ts';
import { clean } from '../show.ts';

type Cell = RunView['coverage'][number];

const SIGNS = { measured: '●', void: '⊘', pending: '◌', 'not-run': '○', 'not-asked': '–' } as const;

/** Device × suite × arm: what was measured, what was not, and why. */
export function Coverage({ view }: { readonly view: RunView }): Child {
  if (view.coverage.length === 0) return <p>Nothing was planned yet.</p>;
  const asked = view.coverage.filter((cell) => cell.status !== 'not-asked');
  const left = [...new Set(view.coverage.filter((cell) => cell.status === 'not-asked').map((cell) => `${cell.device} ${cell.suite}`))];
  const arms = [...new Set(view.coverage.map((cell) => cell.arm))];
  const rows = [...new Set(asked.map((cell) => `${cell.device}\n${cell.suite}`))].map((key) => key.split('\n') as [string, string]);
  const count = (status: Cell['status']): number => view.coverage.filter((cell) => cell.status === status).length;
  return (
    <>
      <p class="note">
        {count('measured')} of {asked.length} cells measured, {count('void')} void, {count('pending')} pending, {count('not-run')} not run.
        {left.length > 0 && ` Not asked for: ${clean(left.join(', '))}.`}
      </p>
      <div class="scroll" tabindex={0} role="region" aria-labelledby="coverage">
        <table>
          <thead>
            <tr>
              <th scope="col">device</th>
              <th scope="col">suite</th>
              {arms.map((arm) => (
                <th scope="col">
                  <code>{clean(arm)}</code>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([device, suite]) => (
              <tr>
                <th scope="row">{clean(device)}</th>
                <td>{clean(suite)}</td>
                {arms.map((arm) => (
                  <CoverageCell cell={view.coverage.find((cell) => cell.device === device && cell.suite === suite && cell.arm === arm)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function CoverageCell({ cell }: { readonly cell: Cell | undefined }): Child {
  if (cell === undefined) return <td class="dim">not asked for</td>;
  return (
    <td class={`${cell.status === 'not-run' || cell.status === 'void' ? 'alarm' : ''}${cell.note === '' ? '' : ' text'}`}>
      <span aria-hidden="true">{SIGNS[cell.status]}</span> {cell.status.replace('-', ' ')}
      {cell.note !== '' && <span class="why">{clean(cell.note)}</span>}
    </td>
  );
}
