/** The tokens of a WGSL file that an edit may touch, with their places. */

export interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Spaces on both sides: an operator between two operands, in the style of this repository's shaders. */
  readonly spaced: boolean;
}

const TOKEN =
  /\/\/.*|\/\*[\s\S]*?\*\/|0x[0-9a-fA-F]+[ui]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uif]?|[A-Za-z_]\w*|<<=|>>=|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|\+\+|--|->|\S/g;

/** Every token outside comments, in order. */
function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  for (const found of source.matchAll(TOKEN)) {
    const [text] = found;
    if (text.startsWith('//') || text.startsWith('/*')) continue;
    const start = found.index;
    const end = start + text.length;
    tokens.push({ text, start, end, spaced: /\s/.test(source[start - 1] ?? '') && /\s/.test(source[end] ?? '') });
  }
  return tokens;
}

/**
 * Runs of tokens that compute: the bodies of functions, and the values of `const` and `override`. Declarations of bindings,
 * attributes and types are left out, since gate 1 compares those with the host side as text.
 */
export function computingRuns(source: string): Token[][] {
  const tokens = tokensOf(source);
  const runs: Token[][] = [];
  for (let at = 0; at < tokens.length; at++) {
    const { text } = tokens[at]!;
    if (text === 'fn') {
      const open = tokens.findIndex((token, index) => index > at && token.text === '{');
      const close = closing(tokens, open);
      runs.push(tokens.slice(open + 1, close));
      at = close;
    } else if (text === 'const' || text === 'override') {
      const end = tokens.findIndex((token, index) => index > at && token.text === ';');
      const equals = tokens.findIndex((token, index) => index > at && token.text === '=');
      if (equals >= 0 && equals < end) runs.push(tokens.slice(equals + 1, end + 1));
      at = end;
    } else if (text === '{') {
      at = closing(tokens, at);
    }
  }
  return runs;
}

/** Index of the token that closes the brace at `open`. @throws Error when the text ends first. */
function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at]!.text === '{') depth++;
    if (tokens[at]!.text === '}' && --depth === 0) return at;
  }
  throw new Error('the shader ends inside a block');
}
