/** Every one-edit mutant of a shader that the rules below can make. Nothing here knows a kernel or judges an edit. */
import { leftOperandStart, rightOperandEnd } from './operands.ts';
import { computingRuns, type Token } from './tokens.ts';

/** A shader with one edit. */
export interface Edit {
  /** Kind of edit. */
  readonly rule: string;
  /** 1-based line of the shader file. */
  readonly line: number;
  /** That line as shipped and as edited, without the indent. */
  readonly before: string;
  readonly after: string;
  /** The whole edited file. */
  readonly source: string;
}

const SWAPS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  arithmetic: {
    '+': ['-', '*'],
    '-': ['+'],
    '*': ['+', '/'],
    '/': ['*'],
    '%': ['/'],
    '+=': ['-='],
    '-=': ['+='],
    '*=': ['/=', '+='],
    '/=': ['*='],
    '++': ['--'],
  },
  comparison: { '<': ['<=', '>='], '<=': ['<'], '>': ['>='], '>=': ['>', '<'], '==': ['!='], '!=': ['=='] },
  bits: { '&': ['|'], '|': ['&'], '^': ['&'], '<<': ['>>'], '>>': ['<<'], '&&': ['||'], '||': ['&&'] },
};

const FUNCTIONS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  exp: 'exp2',
  log: 'log2',
  inverseSqrt: 'sqrt',
  sqrt: 'inverseSqrt',
  abs: '-',
  floor: 'ceil',
  ceil: 'floor',
};

const COMPOUND = new Set(['+=', '-=', '*=', '/=']);

/** All edits of a shader, in the order of its text; no two give the same text. */
export function editsOf(shipped: string): Edit[] {
  const edits = new Map<string, Edit>();
  for (const run of computingRuns(shipped)) {
    for (const at of run.keys()) {
      for (const { rule, start, end, text } of replacementsAt(shipped, run, at)) {
        const source = shipped.slice(0, start) + text + shipped.slice(end);
        if (source === shipped || edits.has(source)) continue;
        const line = shipped.slice(0, start).split('\n').length;
        edits.set(source, { rule, line, before: shipped.split('\n')[line - 1]!.trim(), after: source.split('\n')[line - 1]!.trim(), source });
      }
    }
  }
  return [...edits.values()];
}

interface Replacement {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function* replacementsAt(shipped: string, run: readonly Token[], at: number): Generator<Replacement> {
  const { text, start, end, spaced } = run[at]!;
  for (const [rule, swaps] of Object.entries(SWAPS)) {
    // Without spaces < and > are brackets of a type, and - is a sign.
    if (spaced || text === '++') for (const swapped of swaps[text] ?? []) yield { rule, start, end, text: swapped };
  }
  if (/^[\d.]/.test(text)) for (const nearby of numbersNear(text)) yield { rule: 'constant', start, end, text: nearby };
  const called = run[at + 1]?.text === '(';
  if (called && FUNCTIONS[text] !== undefined) yield { rule: 'function', start, end, text: FUNCTIONS[text] };
  if (text === 'workgroupBarrier' || text === 'storageBarrier') yield { rule: 'barrier', start, end: run[at + 3]!.end, text: '' };
  if (text === '[' && /^\w/.test(run[at - 1]?.text ?? '')) {
    const close = run[rightBracket(run, at)]!.start;
    for (const offset of [' + 1u', ' - 1u']) yield { rule: 'index', start: close, end: close, text: offset };
  }
  if (spaced && (text === '+' || text === '-' || text === '*')) {
    yield { rule: text === '*' ? 'dropped factor' : 'dropped term', start: run[at - 1]!.end, end: run[rightOperandEnd(run, at)]!.end, text: '' };
  }
  if (spaced && (text === '-' || text === '/')) {
    const left = run[leftOperandStart(run, at)]!.start;
    const right = run[rightOperandEnd(run, at)]!;
    yield { rule: 'operands', start: left, end: right.end, text: `${shipped.slice(end + 1, right.end)} ${text} ${shipped.slice(left, start - 1)}` };
  }
  // In a loop's header it would seldom end, and a mutant that hangs shows little for what it costs.
  if (COMPOUND.has(text) && run[rightOperandEnd(run, at) + 1]?.text === ';') yield { rule: 'sum not kept', start, end, text: '=' };
  if (text === 'return' && run[at + 1]?.text === ';') yield { rule: 'dropped statement', start, end: run[at + 1]!.end, text: '' };
  const first = [';', '{', '}'].includes(run[at - 1]?.text ?? '{');
  if (first && /^[a-zA-Z]/.test(text)) yield* droppedStatement(run, at);
}

const DECLARES = new Set(['let', 'var', 'const', 'return', 'for', 'if', 'while', 'else', 'loop', 'switch', 'workgroupBarrier', 'storageBarrier']);

/** An assignment that starts at `at`, left out. */
function* droppedStatement(run: readonly Token[], at: number): Generator<Replacement> {
  if (DECLARES.has(run[at]!.text)) return;
  const stop = run.findIndex((token, index) => index > at && (token.text === ';' || token.text === '{' || token.text === '}'));
  if (run[stop]?.text !== ';' || !run.slice(at, stop).some(({ text }) => text.endsWith('='))) return;
  yield { rule: 'dropped statement', start: run[at]!.start, end: run[stop].end, text: '' };
}

function rightBracket(run: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < run.length; at++) {
    if (run[at]!.text === '[') depth++;
    if (run[at]!.text === ']' && --depth === 0) return at;
  }
  throw new Error('the shader ends inside an index');
}

/** A number and its neighbours by 1; a real one also halved and doubled, since 1 may be far below its rounding or far above it. */
function numbersNear(text: string): string[] {
  const [, digits, suffix] = /^(0x[\da-fA-F]+|[\d.]+(?:[eE][+-]?\d+)?)([uif]?)$/.exec(text)!;
  const value = Number(digits);
  const real = !digits!.startsWith('0x') && (/[.eE]/.test(digits!) || suffix === 'f');
  if (real) return [value + 1, value * 2, value / 2].filter((near) => near !== value && Math.abs(near) < 3.4e38).map((near) => `${asReal(near)}${suffix}`);
  return [value + 1, value - 1].filter((near) => near >= 0 && near < 2 ** 32).map((near) => `${near}${suffix}`);
}

function asReal(value: number): string {
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
