import { expect, test } from 'vitest';
import { usageLine } from './usage-error.ts';

test.each([
  [
    "error: unknown option '--head'\n(Did you mean --heads?)\n",
    'fleet submit',
    "fleet: unknown option '--head' (Did you mean --heads?). next: fleet submit --help\n",
  ],
  ["error: missing required argument 'run'\n", 'fleet watch', "fleet: missing required argument 'run'. next: fleet status lists the runs\n"],
  [
    "error: too many arguments for 'submit'. Expected 0 arguments but got 1.\n",
    'fleet submit',
    "fleet: too many arguments for 'submit'. Expected 0 arguments but got 1; lists have commas between their items, such as main,HEAD. next: fleet submit --help\n",
  ],
  ["error: unknown command 'submti'\n(Did you mean submit?)\n", 'fleet', "fleet: unknown command 'submti' (Did you mean submit?). next: fleet --help\n"],
])('%j of %s', (text, command, line) => {
  expect(usageLine(text, command)).toBe(line);
});
