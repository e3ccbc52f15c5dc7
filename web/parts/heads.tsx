/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { RunView } from '../../coordinator/protocol/run.ts';
import { clean, count, short, when } from '../show.ts';

/** The arms with commit, tree and subject, and the rule as it was sealed before the first leg. */
export function Heads({ view }: { readonly view: RunView }): Child {
  const { rule, seal, forecast } = view;
  return (
    <>
      <div class="scroll" tabindex={0} role="region" aria-labelledby="heads">
        <table>
          <thead>
            <tr>
              <th scope="col">arm</th>
              <th scope="col">as written</th>
              <th scope="col">commit</th>
              <th scope="col">tree</th>
              <th scope="col">subject</th>
            </tr>
          </thead>
          <tbody>
            {view.arms.map((arm, i) => (
              <tr>
                <th scope="row">{i === 0 ? 'baseline' : i === view.mergeBase ? 'merge base' : 'candidate'}</th>
                <td>
                  <code>{clean(arm.label)}</code>
                </td>
                <td>
                  <code title={arm.head}>{short(arm.head)}</code>
                </td>
                <td>
                  <code title={arm.tree}>{short(arm.tree)}</code>
                </td>
                <td class="text">{clean(arm.subject)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {seal.broken && <p class="warn">This run is not what was sealed: {clean(seal.broken)}. No verdict holds.</p>}
      <p>
        Rule: <code>{clean(rule.text)}</code>; {count(view.pairs, 'pair')} a case{view.seed !== undefined && `, order of legs by seed ${view.seed}`}.
        {forecast && (
          <>
            {' '}
            Forecast: <code>{clean(forecast.text)}</code>.
          </>
        )}
      </p>
      {view.extends && (
        <p>
          These pairs were added to the {view.extends.pairs} of run <a href={`/runs/${view.extends.run}`}>{view.extends.run}</a> and are judged with them; p
          does not account for the look in between.
        </p>
      )}
      <details id="seal">
        <summary>
          Sealed <time datetime={seal.at}>{when(seal.at)}</time>, before the first leg, as <code class="hash">{seal.sha256}</code>
        </summary>
        <pre tabindex={0} role="region" aria-label="Sealed text">
          {clean(seal.text)}
        </pre>
      </details>
    </>
  );
}
