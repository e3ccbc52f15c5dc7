/** What stands on either side of a binary operator. */
import type { Token } from './tokens.ts';

const PRECEDENCE: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!=', '<', '>', '<=', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];

/** Place in the order of precedence, products highest; −1 for anything but a binary operator. */
function precedence(token: Token): number {
  return token.spaced ? PRECEDENCE.findIndex((level) => level.includes(token.text)) : -1;
}

const OPENING = new Set(['(', '[', '{']);
const CLOSING = new Set([')', ']', '}']);
const ENDS = new Set([',', ';', '=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=', 'return', '{', '}']);

/** Index of the last token of the operand that follows the operator at `at`: tokens that bind tighter belong to it. */
export function rightOperandEnd(tokens: readonly Token[], at: number): number {
  const level = precedence(tokens[at]!);
  let depth = 0;
  let end = at;
  for (let i = at + 1; i < tokens.length; i++) {
    const { text } = tokens[i]!;
    if (depth === 0 && (CLOSING.has(text) || ENDS.has(text))) break;
    const found = precedence(tokens[i]!);
    if (depth === 0 && found >= 0 && found <= level) break;
    if (OPENING.has(text)) depth++;
    if (CLOSING.has(text)) depth--;
    end = i;
  }
  return end;
}

/** Index of the first token of the operand before the operator at `at`. */
export function leftOperandStart(tokens: readonly Token[], at: number): number {
  const level = precedence(tokens[at]!);
  let depth = 0;
  let start = at;
  for (let i = at - 1; i >= 0; i--) {
    const { text } = tokens[i]!;
    if (depth === 0 && (OPENING.has(text) || ENDS.has(text))) break;
    const found = precedence(tokens[i]!);
    // Operators group to the left, so an operator of the same level is inside the operand.
    if (depth === 0 && found >= 0 && found < level) break;
    if (CLOSING.has(text)) depth++;
    if (OPENING.has(text)) depth--;
    start = i;
  }
  return start;
}
