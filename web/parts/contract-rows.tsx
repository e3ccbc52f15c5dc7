/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { ContractRow } from '../../coordinator/protocol/verdict.ts';
import { clean, count } from '../show.ts';

/** Every kernel and planted control, head against head. Rows that are `same` fold away; no other ever does. */
export function ContractRows({ rows, id }: { readonly rows: readonly ContractRow[]; readonly id: string }): Child {
  if (rows.length === 0) return null;
  const same = rows.filter((row) => row.status === 'same');
  const other = rows.filter((row) => row.status !== 'same');
  return (
    <>
      <h4 id={id}>
        Kernels and controls{' '}
        <span class="aside">
          {same.length} of {count(rows.length, 'row')} same
        </span>
      </h4>
      {other.length > 0 && <Rows rows={other} id={id} />}
      {same.length > 0 && (
        <details id={`${id}-same`}>
          <summary>{count(same.length, 'kernel or control', 'kernels and controls')} with the same result in both arms</summary>
          <Rows rows={same} id={id} />
        </details>
      )}
    </>
  );
}

/** `0.612 → 0.940`, and the cases behind it: a bound that is nearly used up is seen before it breaks. */
function Drift({ row }: { readonly row: ContractRow }): Child {
  if (row.worst === undefined) return <>–</>;
  const { baseline, candidate } = row.worst;
  const text = baseline === candidate ? fraction(baseline) : `${fraction(baseline)} → ${fraction(candidate)}`;
  if (row.differingCases === undefined || row.cases === undefined) return <>{text}</>;
  return (
    <details>
      <summary>
        {text}, {count(row.differingCases, 'case differs', 'cases differ')}
      </summary>
      <ul>
        {row.cases.map((item) => (
          <li>
            {clean(item.name)}: {fraction(item.baseline)} → {fraction(item.candidate)}, bits {item.sameBits ? 'equal' : 'differ'}
          </li>
        ))}
        {row.differingCases > row.cases.length && <li>and {row.differingCases - row.cases.length} more</li>}
      </ul>
    </details>
  );
}

const fraction = (value: number | null): string => (value === null ? 'exact' : value.toFixed(3));

function Rows({ rows, id }: { readonly rows: readonly ContractRow[]; readonly id: string }): Child {
  return (
    <div class="scroll" tabindex={0} role="region" aria-labelledby={id}>
      <table class="wide contract">
        <thead>
          <tr>
            <th scope="col">kernel or control</th>
            <th scope="col">head against head</th>
            <th scope="col">baseline</th>
            <th scope="col">candidate</th>
            <th scope="col">worst of bound</th>
            <th scope="col">note</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              <th scope="row">{clean(row.kernel)}</th>
              <td class={row.status === 'same' || row.status === 'fixed' ? '' : 'alarm'}>{row.status}</td>
              <td>{clean(row.baseline)}</td>
              <td>{row.baseline === row.candidate && row.status === 'same' ? <span class="dim">the same</span> : clean(row.candidate)}</td>
              <td>
                <Drift row={row} />
              </td>
              <td>{clean(row.note)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
