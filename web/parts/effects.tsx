/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { pairName } from '../../coordinator/protocol/figures.ts';
import type { RunView } from '../../coordinator/protocol/run.ts';
import type { Effect, Verdict } from '../../coordinator/protocol/verdict.ts';
import { clean, count, fixed, gain, milliseconds, probability } from '../show.ts';
import { Mark } from './corrections.tsx';
import { PairPlot } from './pair-plot.tsx';

interface EffectsProps {
  readonly verdict: Verdict;
  readonly view: RunView;
  /** What names of the verdict's figures start with. */
  readonly name: string;
  readonly id: string;
}

/** Every case's pairs in run order, its figures, and what the rule says. Gains come from the verdict, never from a page. */
export function Effects({ verdict, view, name, id }: EffectsProps): Child {
  if (verdict.effects.length === 0) return null;
  const metrics = [...new Set(verdict.effects.map((effect) => clean(effect.metric)))];
  return (
    <>
      <p class="note">Gain = (baseline − candidate) / baseline of each pair; positive is faster. Timed, in ms: {metrics.join(' | ')}.</p>
      {verdict.effects.map((effect) => (
        <CaseEffect effect={effect} verdict={verdict} view={view} name={name} id={`${id}-${effect.case}`} />
      ))}
    </>
  );
}

function CaseEffect({ effect, verdict, view, name, id }: EffectsProps & { readonly effect: Effect }): Child {
  const mark = (...fields: (keyof Effect)[]): Child => <Mark view={view} names={fields.map((field) => `${name}/${effect.case}/${field}`)} />;
  const ofPair = (pair: number, ...fields: string[]): Child => (
    <Mark view={view} names={fields.map((field) => `${pairName(name, effect.case, pair)}/${field}`)} />
  );
  const forecasts = (verdict.forecasts ?? []).filter((score) => score.case === effect.case);
  const pooled = view.pooledModes?.find(
    (item) => item.device === verdict.device && item.suite === verdict.suite && item.case === effect.case && view.arms[item.arm]?.label === verdict.candidate,
  );
  return (
    <div class="case">
      <h4 id={id}>
        {effect.case} <span class="figure">{gain(effect.medianPercent)} %</span>
        {mark('medianPercent')} <span class="aside">median of {count(effect.pairs.length, 'pair')}</span>
        <span class="rule">
          rule <strong class={effect.ruleMet ? 'good' : 'bad'}>{effect.ruleMet ? 'met' : 'not met'}</strong>: {effect.ruleNote}
          {mark('ruleMet', 'ruleNote')}
        </span>
      </h4>
      <div class="split">
        <div class="scroll" tabindex={0} role="region" aria-labelledby={id}>
          <table class="numbers">
            <thead>
              <tr>
                <th scope="col" class="n">
                  pair
                </th>
                <th scope="col">first</th>
                <th scope="col" class="n">
                  baseline
                </th>
                <th scope="col" class="n">
                  leg
                </th>
                <th scope="col" class="n">
                  candidate
                </th>
                <th scope="col" class="n">
                  leg
                </th>
                <th scope="col" class="n">
                  gain %
                </th>
              </tr>
            </thead>
            <tbody>
              {effect.pairs.map((pair) => (
                <>
                  <tr id={`${id}-pair-${pair.pair}`}>
                    <th scope="row" class="n">
                      {pair.pair}
                    </th>
                    <td>{pair.order === 'baseline-first' ? 'baseline' : 'candidate'}</td>
                    <td class="n">
                      {milliseconds(pair.baselineMs)}
                      {ofPair(pair.pair, 'baselineMs', 'baselineLeg')}
                    </td>
                    <td class="n dim">{pair.baselineLeg}</td>
                    <td class="n">
                      {milliseconds(pair.candidateMs)}
                      {ofPair(pair.pair, 'candidateMs', 'candidateLeg')}
                    </td>
                    <td class="n dim">{pair.candidateLeg}</td>
                    <td class={pair.gainPercent > 0 ? 'n strong' : 'n strong loss'}>
                      {gain(pair.gainPercent)}
                      {ofPair(pair.pair, 'gainPercent', 'order')}
                    </td>
                  </tr>
                  {[...pair.flags, ...(pair.machine ?? []).map(clean)].map((flag) => (
                    <tr class="flag">
                      <td></td>
                      <td colspan={6}>⚑ {flag}</td>
                    </tr>
                  ))}
                </>
              ))}
              {effect.voidPairs?.map(({ pair, baselineLeg, candidateLeg, reason }) => (
                <tr class="flag" id={`${id}-pair-${pair}`}>
                  <th scope="row" class="n">
                    {pair}
                  </th>
                  <td colspan={6}>
                    ⚑ void, counted in no figure (legs {baselineLeg}, {candidateLeg}): {clean(reason)}
                    {ofPair(pair, 'reason', 'baselineLeg', 'candidateLeg')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <PairPlot effect={effect} thresholdPercent={medianThreshold(view.rule)} id={`${id}-plot`} />
      </div>
      <dl class="facts">
        <Fact name="range">
          {gain(effect.minPercent)} to {gain(effect.maxPercent)} %{mark('minPercent', 'maxPercent')}
        </Fact>
        <Fact name="Hodges–Lehmann">
          {gain(effect.hodgesLehmannPercent)} %{mark('hodgesLehmannPercent', 'interval')}{' '}
          {effect.interval === null ? (
            <span class="aside">no 95 % interval from fewer than 6 pairs</span>
          ) : (
            <span class="aside">
              {gain(effect.interval.low)} to {gain(effect.interval.high)} ({fixed(effect.interval.confidence * 100, 1)} %)
            </span>
          )}
        </Fact>
        <Fact name="sign-flip p">
          {probability(effect.signFlipP)}
          {mark('signFlipP', 'signFlipTwoSidedP', 'smallestP')}{' '}
          <span class="aside">
            one-sided{effect.signFlipTwoSidedP !== undefined && `, two-sided ${probability(effect.signFlipTwoSidedP)}`}; least that{' '}
            {count(effect.pairs.length, 'pair')} can reach: {probability(effect.smallestP)}
          </span>
        </Fact>
        {effect.order && (
          <Fact name="order effect">
            second place {fixed(effect.order.secondSlowerPercent, 2)} % slower{mark('order')}{' '}
            <span class="aside">
              p {probability(effect.order.p)}; {effect.order.baselineFirst} baseline first, {effect.order.candidateFirst} candidate first
            </span>
          </Fact>
        )}
        {effect.modes && effect.modes.baseline.hits + effect.modes.candidate.hits > 0 && (
          <Fact name="another mode">
            baseline {effect.modes.baseline.hits} of {effect.modes.baseline.of}, candidate {effect.modes.candidate.hits} of {effect.modes.candidate.of} legs{' '}
            <span class="aside">Fisher p {probability(effect.modes.fisherP)}, two-sided</span>
          </Fact>
        )}
        {pooled && pooled.runs > 1 && (
          <Fact name="mode, all runs">
            baseline {pooled.baseline.hits} of {pooled.baseline.of}, candidate {pooled.candidate.hits} of {pooled.candidate.of} legs{' '}
            <span class="aside">
              {pooled.runs} runs of these trees; Fisher p {probability(pooled.fisherP)}, two-sided
              {pooled.moreLegs !== null && pooled.moreLegs > 0 && `; ${pooled.moreLegs} more legs give 80 % odds of p ≤ 0.05`}
            </span>
          </Fact>
        )}
        {effect.morePairs !== undefined && effect.morePairs !== 0 && (
          <Fact name="pairs needed">
            {effect.morePairs === null ? 'no number is enough' : `${effect.morePairs} more`}{' '}
            <span class="aside">for 80 % odds of p ≤ 0.05, if gains go on as these</span>
          </Fact>
        )}
        {effect.medianWithoutFlaggedPercent !== null && (
          <Fact name="without flagged">
            {gain(effect.medianWithoutFlaggedPercent)} %{mark('medianWithoutFlaggedPercent')} <span class="aside">not binding</span>
          </Fact>
        )}
        {forecasts.map((score) => (
          <Fact name="forecast">
            {gain(score.lowPercent)} to {gain(score.highPercent)} %{score.confidencePercent !== null && `, ${fixed(score.confidencePercent, 0)} % sure`}:{' '}
            {score.hit ? 'hit' : `missed by ${fixed(Math.abs(score.missPercent), 2)} points`}
          </Fact>
        ))}
        <Noise verdict={verdict} view={view} name={name} of={effect.case} />
      </dl>
    </div>
  );
}

/** The A/A floor of this case and the rule's false-verdict rate with their date, or that there is no calibration. */
function Noise({ verdict, view, name, of }: { readonly verdict: Verdict; readonly view: RunView; readonly name: string; readonly of: string }): Child {
  const at = (verdict.calibrations ?? []).findIndex((item) => item.case === of);
  const use = verdict.calibrations?.[at];
  if (use === undefined)
    return <Fact name="device noise">{verdict.calibrations === undefined ? clean(verdict.calibration) : 'no A/A calibration of this case'}</Fact>;
  return (
    <>
      <Fact name="A/A floor">
        {fixed(use.floorPercent, 2)} %<Mark view={view} names={[`${name}/calibrations-${at + 1}`]} />{' '}
        <span class="aside">
          {count(use.pairs, 'pair')}; <a href={`/runs/${use.run}`}>{use.run}</a>, {use.at.slice(0, 10)}, {count(use.ofPairs, 'pair')} of {use.measured}
        </span>
      </Fact>
      <Fact name="rule met by no change">
        {use.simulated.hits} of {use.simulated.of}{' '}
        <span class="aside">
          simulated series; {use.counted.hits} of {use.counted.of} measured
        </span>
      </Fact>
      {use.stale !== null && (
        <Fact name="calibration stale">
          <strong class="bad">{clean(use.stale)}</strong> <span class="aside">fleet calibrate --device {verdict.device}</span>
        </Fact>
      )}
    </>
  );
}

/** The median that the rule asks for at least; null where it asks for none. */
function medianThreshold(rule: RunView['rule']): number | null {
  const value = rule.clauses.find((clause) => clause.subject === 'median' && clause.op.startsWith('>') && clause.value !== 'floor')?.value;
  return typeof value === 'number' ? value : null;
}

function Fact({ name, children }: { readonly name: string; readonly children?: Child }): Child {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
