/** Arms as people write them: `HEAD`, `HEAD~1`, `HEAD[qmm=scalar,ncols=8]`. */
import { settingName, settingValue } from '../protocol/ids.ts';

/** A parsed arm. `ref` is still unresolved: a branch, tag, commit or expression such as `HEAD~1`. */
export interface Arm {
  /** As written, without surrounding white space. */
  readonly label: string;
  readonly ref: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** An arm or list of arms that cannot be read. `column` counts from 1 in the text that was handed in. */
export class ArmSyntaxError extends Error {
  override readonly name = 'ArmSyntaxError';
  readonly column: number;

  constructor(text: string, column: number, problem: string) {
    super(`column ${column} of "${text}": ${problem}\n  ${text}\n  ${' '.repeat(column - 1)}^\nnext: write arms as HEAD or HEAD[name=value,name=value]`);
    this.column = column;
  }
}

/**
 * Parses one arm.
 * @throws ArmSyntaxError pointing at the column.
 */
export function parseArm(text: string): Arm {
  return armAt(text, 0, text.length);
}

/**
 * Parses a comma-separated list such as `HEAD[qmm=scalar,ncols=8],HEAD[qmm=vec4]`; commas inside brackets belong to the arm.
 * @throws ArmSyntaxError pointing at the column of the whole list.
 */
export function parseArms(text: string): Arm[] {
  const arms: Arm[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at <= text.length; at++) {
    const char = text[at];
    if (char === '[') depth++;
    else if (char === ']') depth--;
    else if (char === undefined || (char === ',' && depth <= 0)) {
      arms.push(armAt(text, start, at));
      start = at + 1;
    }
  }
  return arms;
}

function armAt(text: string, from: number, to: number): Arm {
  const fail = (at: number, problem: string): never => {
    throw new ArmSyntaxError(text, at + 1, problem);
  };
  let start = from;
  let end = to;
  while (start < end && /\s/.test(text[start]!)) start++;
  while (end > start && /\s/.test(text[end - 1]!)) end--;
  if (start === end) fail(from, 'expected a head (branch, tag or commit)');
  const label = text.slice(start, end);
  const open = text.slice(0, end).indexOf('[', start);
  const close = text.slice(0, end).indexOf(']', start);
  if (open === -1) {
    if (close !== -1) fail(close, '"]" without "["');
    return { label, ref: checkedRef(text, start, end, fail), settings: {} };
  }
  if (open === start) fail(open, 'expected a head before "["');
  if (close === -1) fail(end, 'expected "]" to close the settings');
  if (close < open) fail(close, '"]" without "["');
  if (close !== end - 1) fail(close + 1, 'nothing may follow the settings');
  const ref = checkedRef(text, start, open, fail);
  const settings: Record<string, string> = {};
  let at = open + 1;
  for (const item of text.slice(open + 1, close).split(',')) {
    const lead = item.length - item.trimStart().length;
    const [name = '', value] = item.trim().split(/=(.*)/s, 2);
    const nameAt = at + lead;
    if (value === undefined || name === '') fail(nameAt, 'expected NAME=VALUE');
    if (!settingName.safeParse(name).success) fail(nameAt, `"${name}" is no setting name (a-z, 0-9 and "-", a letter first)`);
    if (/\s\S*=/.test(value!)) fail(nameAt + name.length + 1 + value!.search(/\s/), 'settings have commas between them, such as [a=b,c=d]');
    if (!settingValue.safeParse(value).success) fail(nameAt + name.length + 1, `"${value}" is no setting value (letters, digits, ".", "_" and "-")`);
    if (Object.hasOwn(settings, name)) fail(nameAt, `"${name}" is set twice`);
    settings[name] = value!;
    at += item.length + 1;
  }
  return { label, ref, settings };
}

/** What git itself refuses in a name of a commit, so that the message can point at it; `-` first would be read as an option. */
function checkedRef(text: string, start: number, end: number, fail: (at: number, problem: string) => never): string {
  const ref = text.slice(start, end);
  if (ref.startsWith('-')) fail(start, 'a head may not begin with "-"');
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  const bad = ref.search(/[\s\u0000-\u001f\u007f\\?*]/);
  if (bad !== -1 && /\s/.test(ref[bad]!)) fail(start + bad, 'arms have commas between them, and a head may not contain white space');
  if (bad !== -1) fail(start + bad, `a head may not contain ${JSON.stringify(ref[bad])}`);
  return ref;
}
