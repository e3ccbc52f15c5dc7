/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { Effect } from '../../coordinator/protocol/verdict.ts';
import { count, gain } from '../show.ts';

const WIDTH = 560;
const LEFT = 58;
const RIGHT = 20;
const TOP = 24;

/** Steps of 1, 2 or 5 times a power of ten that cut a span into at most about six. */
function ticks(low: number, high: number): number[] {
  const raw = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  const found: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
}

/**
 * Gains of one case's pairs, a row a pair in run order, on one axis that always holds zero and, where the rule asks for a median, its threshold.
 * Circle: the baseline ran first. Diamond: the candidate did. Hollow: flagged as another mode.
 */
export function PairPlot({ effect, thresholdPercent, id }: { readonly effect: Effect; readonly thresholdPercent: number | null; readonly id: string }): Child {
  const gains = effect.pairs.map((pair) => pair.gainPercent);
  const least = Math.min(0, thresholdPercent ?? 0, ...gains);
  const most = Math.max(0, thresholdPercent ?? 0, ...gains);
  const margin = Math.max((most - least) * 0.06, 0.05);
  const [low, high] = [least - margin, most + margin];
  const x = (value: number): number => Math.round((LEFT + ((value - low) / (high - low)) * (WIDTH - LEFT - RIGHT)) * 10) / 10;
  const pitch = gains.length <= 12 ? 22 : Math.max(6, Math.floor(264 / gains.length));
  const bottom = TOP + pitch * gains.length;
  const y = (row: number): number => TOP + pitch * (row + 0.5);
  const size = pitch >= 14 ? 5 : 3;
  const zero = x(0);
  const rule = thresholdPercent === null ? null : x(thresholdPercent);
  const asked = thresholdPercent === null ? '' : `; the rule asks for a median of ${thresholdPercent}`;
  const middle = x(effect.medianPercent);
  const described = `${count(gains.length, 'pair')} in run order, gains ${gains.map(gain).join(', ')} percent; median ${gain(effect.medianPercent)}${asked}.`;
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${bottom + 44}`} role="img" aria-labelledby={`${id}-title ${id}-desc`}>
      <title id={`${id}-title`}>{`Gain of each pair, ${effect.case}`}</title>
      <desc id={`${id}-desc`}>{described}</desc>
      {ticks(low, high).map((value) => (
        <>
          <line class="grid" x1={x(value)} x2={x(value)} y1={TOP - 2} y2={bottom} />
          <text class="tick" x={x(value)} y={bottom + 15} text-anchor="middle">
            {gainTick(value)}
          </text>
        </>
      ))}
      <line class="zero" x1={zero} x2={zero} y1={TOP - 2} y2={bottom} />
      {rule !== null && (
        <>
          <line class="rule" x1={rule} x2={rule} y1={TOP - 2} y2={bottom} />
          <text class="tick" x={rule} y={TOP - 10} text-anchor={rule > WIDTH - 90 ? 'end' : 'middle'}>
            {`rule ${thresholdPercent} %`}
          </text>
        </>
      )}
      <line class="median" x1={middle} x2={middle} y1={TOP - 2} y2={bottom} />
      {(rule === null || Math.abs(middle - rule) > 90) && (
        <text class="median-label" x={middle} y={TOP - 10} text-anchor={middle > WIDTH - 60 ? 'end' : 'middle'}>
          median
        </text>
      )}
      {effect.pairs.map((pair, row) => (
        <>
          {pitch >= 14 && (
            <text class="tick" x={LEFT - 10} y={y(row) + 4} text-anchor="end">
              {`pair ${pair.pair}`}
            </text>
          )}
          <line class="stem" x1={zero} x2={x(pair.gainPercent)} y1={y(row)} y2={y(row)} />
          {pair.order === 'baseline-first' ? (
            <circle class={pair.flags.length > 0 ? 'dot flagged' : 'dot'} cx={x(pair.gainPercent)} cy={y(row)} r={size} />
          ) : (
            <path class={pair.flags.length > 0 ? 'dot flagged' : 'dot'} d={diamond(x(pair.gainPercent), y(row), size + 1)} />
          )}
        </>
      ))}
      <text class="tick" x={LEFT - 44} y={bottom + 35}>
        {`gain, % · ● baseline ran first · ◆ candidate ran first${effect.pairs.some((pair) => pair.flags.length > 0) ? ' · hollow: other mode' : ''}`}
      </text>
    </svg>
  );
}

const gainTick = (value: number): string => String(Number(value.toFixed(6))).replace('-', '−');
const diamond = (cx: number, cy: number, r: number): string => `M${cx} ${cy - r}L${cx + r} ${cy}L${cx} ${cy + r}L${cx - r} ${cy}Z`;
