/**
 * What a submitter expects, written before anything ran, and how it came out.
 *
 *     forecast = item { ";" item }
 *     item     = [ [CASE] [ "@" DEVICE ] [ "#" N ] ":" ] PERCENT "to" PERCENT [ "(" PERCENT ")" ]
 *
 * An item is a range for the median gain of every case it names: of one CASE, on one DEVICE, of candidate N (1 is the first arm after
 * the baseline), or of all. In brackets: how sure the submitter is. Example: `unicode: 15% to 35% (80%); document: 5% to 15%`.
 */
import type { Forecast, ForecastItem } from '../protocol/run.ts';
import type { Effect, ForecastScore } from '../protocol/verdict.ts';
import { Scanner } from './scanner.ts';

/** Reads a forecast. @throws TextSyntaxError pointing at the column. */
export function parseForecast(text: string): Forecast {
  const scanner = new Scanner(text);
  const items: ForecastItem[] = [];
  for (;;) {
    items.push(readItem(scanner));
    if (scanner.done) break;
    if (!scanner.take(';')) scanner.fail('expected ";" or the end of the forecast');
    if (scanner.done) break;
  }
  return { text: items.map(itemText).join('; '), items };
}

/** An item as it is sealed and shown. */
export function itemText({ case: name, device, candidate, lowPercent, highPercent, confidencePercent }: ForecastItem): string {
  const scope = [name ?? '', device === null ? '' : `@${device}`, candidate === null ? '' : `#${candidate}`].join('');
  return `${scope === '' ? '' : `${scope}: `}${lowPercent}% to ${highPercent}%${confidencePercent === null ? '' : ` (${confidencePercent}%)`}`;
}

function readItem(scanner: Scanner): ForecastItem {
  const scope = readScope(scanner);
  const lowPercent = scanner.percent('the forecast’s beginning');
  const joint = scanner.at;
  if (scanner.word() !== 'to') scanner.fail('expected "to" between the two ends of the range', joint);
  const high = scanner.at;
  const highPercent = scanner.percent('"to"');
  if (highPercent < lowPercent) scanner.fail('the range ends below its beginning', high);
  let confidencePercent: number | null = null;
  if (scanner.take('(')) {
    const at = scanner.at;
    confidencePercent = scanner.percent('"("');
    if (!(confidencePercent > 0 && confidencePercent < 100)) scanner.fail('how sure you are lies between 0 % and 100 %', at);
    if (!scanner.take(')')) scanner.fail('expected ")"');
  }
  return { ...scope, lowPercent, highPercent, confidencePercent };
}

function readScope(scanner: Scanner): Pick<ForecastItem, 'case' | 'device' | 'candidate'> {
  // A name may begin with a digit, as a number does: what stands before a colon is a name.
  const found = scanner.match(/(?=[A-Za-z0-9@#])([A-Za-z0-9][A-Za-z0-9._-]*)?\s*(?:@\s*([a-z0-9][a-z0-9-]*))?\s*(?:#\s*([1-9]))?\s*:/y);
  if (found === null) {
    const at = scanner.at;
    if (scanner.match(/[A-Za-z@#:]/y) !== null) scanner.fail('expected a range such as 5% to 15%, or CASE, @DEVICE or #CANDIDATE and then ":"', at);
    return { case: null, device: null, candidate: null };
  }
  return { case: found[1] ?? null, device: found[2] ?? null, candidate: found[3] === undefined ? null : Number(found[3]) };
}

/**
 * Scores a sealed forecast against the effects of one verdict.
 * @param candidate 1 for the first arm after the baseline.
 */
export function scoreForecast(forecast: Forecast | null, device: string, candidate: number, effects: readonly Effect[]): ForecastScore[] {
  return effects.flatMap((effect) =>
    (forecast?.items ?? [])
      .filter((item) => (item.case ?? effect.case) === effect.case && (item.device ?? device) === device && (item.candidate ?? candidate) === candidate)
      .map(({ lowPercent, highPercent, confidencePercent }) => {
        const { medianPercent } = effect;
        const hit = lowPercent <= medianPercent && medianPercent <= highPercent;
        return {
          case: effect.case,
          lowPercent,
          highPercent,
          confidencePercent,
          medianPercent,
          hit,
          missPercent: hit ? 0 : medianPercent < lowPercent ? medianPercent - lowPercent : medianPercent - highPercent,
          brier: confidencePercent === null ? null : (confidencePercent / 100 - (hit ? 1 : 0)) ** 2,
        };
      }),
  );
}
