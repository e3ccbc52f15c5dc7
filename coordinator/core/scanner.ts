/** Reads a short text word by word and, when it cannot, says at which column. */

/** A text that cannot be read. `column` counts from 1 in the text that was handed in. */
export class TextSyntaxError extends Error {
  override readonly name = 'TextSyntaxError';
  readonly column: number;
  /** The text, and a caret under the column: two lines. */
  readonly pointer: string;

  constructor(text: string, column: number, problem: string) {
    super(`column ${column}: ${problem}`);
    this.column = column;
    this.pointer = `${text}\n${' '.repeat(column - 1)}^`;
  }
}

export class Scanner {
  readonly #text: string;
  #at = 0;

  /** @param text line ends count as spaces. */
  constructor(text: string) {
    this.#text = text.replaceAll(/\s/g, ' ');
  }

  /** Where the next word begins, from 0. */
  get at(): number {
    while (this.#text[this.#at] === ' ') this.#at++;
    return this.#at;
  }

  get done(): boolean {
    return this.at >= this.#text.length;
  }

  /** @throws TextSyntaxError at a place (default: the next word). */
  fail(problem: string, at = this.at): never {
    throw new TextSyntaxError(this.#text, at + 1, problem);
  }

  /** Takes what a pattern matches here, or returns null. @param pattern sticky (`y`). */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  /** Takes these characters if they come next. */
  take(symbol: string): boolean {
    if (!this.#text.startsWith(symbol, this.at)) return false;
    this.#at += symbol.length;
    return true;
  }

  /** The next word in lower case; '' where none begins. */
  word(): string {
    return (this.match(/[A-Za-z][A-Za-z-]*/y)?.[0] ?? '').toLowerCase();
  }

  /** A decimal number. @throws TextSyntaxError saying that one was expected `after` something. */
  number(after: string): number {
    const found = this.match(/[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/iy);
    return found === null ? this.fail(`expected a number after ${after}`) : Number(found[0]);
  }

  /** A number that may carry a percent sign. */
  percent(after: string): number {
    const value = this.number(after);
    this.take('%');
    return value;
  }
}
