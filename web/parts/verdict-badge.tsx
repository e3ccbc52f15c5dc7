/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { VerdictWord } from '../../coordinator/protocol/verdict.ts';
import { clean } from '../show.ts';

type Tone = 'good' | 'bad' | 'open' | 'quiet';

interface Look {
  readonly tone: Tone;
  /** Outline and sign: good is a circle, bad an octagon, open a diamond, quiet a dashed or open circle. */
  readonly shape: Child;
  /** One sentence: what this word says. */
  readonly help: string;
}

const CIRCLE = <circle cx="8" cy="8" r="7" class="fill" />;
const OCTAGON = <path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" class="fill" />;
const DIAMOND = <path d="M8 .8 15.2 8 8 15.2.8 8z" class="line" />;

const CHECK = <path d="M4.6 8.3 7 10.7l4.4-5" class="sign" />;
const EQUALS = <path d="M4.8 6.4h6.4M4.8 9.6h6.4" class="sign" />;
const CROSS = <path d="m5.2 5.2 5.6 5.6m0-5.6-5.6 5.6" class="sign" />;
const MINUS = <path d="M4.6 8h6.8" class="sign" />;
const UNEQUAL = <path d="M4.8 6.4h6.4M4.8 9.6h6.4M9.6 4 6.4 12" class="sign" />;
const QUESTION = <path d="M6.2 6.6c0-2.5 3.6-2.3 3.6-.1 0 1.5-1.8 1.4-1.8 2.8M8 11.3v.2" class="mark" />;
const STRIKE = <path d="m5.4 5.4 5.2 5.2m0-5.2-5.2 5.2" class="mark" />;

const shape = (...parts: Child[]): Child => <>{parts}</>;

const LOOKS: Readonly<Record<VerdictWord, Look>> = {
  same: { tone: 'good', shape: shape(CIRCLE, EQUALS), help: 'Both arms give the same result.' },
  'rule-met': { tone: 'good', shape: shape(CIRCLE, CHECK), help: 'The output is as the sealed identity asks, and every case meets the sealed rule.' },
  fixed: { tone: 'good', shape: shape(CIRCLE, CHECK), help: 'Something fails in the baseline and no longer in the candidate.' },
  'pre-existing': {
    tone: 'quiet',
    shape: shape(<circle cx="8" cy="8" r="7" class="line" />, <path d="M4.6 8h6.8" class="mark" />),
    help: 'It fails in both arms alike: the candidate did not cause it.',
  },
  'output-differs': { tone: 'bad', shape: shape(OCTAGON, UNEQUAL), help: 'The arms do not give the same output. No time is compared, however fast.' },
  'new-failure': { tone: 'bad', shape: shape(OCTAGON, CROSS), help: 'Something fails in the candidate that does not fail in the baseline.' },
  'rule-not-met': {
    tone: 'bad',
    shape: shape(OCTAGON, MINUS),
    help: 'The output is the same, but the gains do not meet the rule that was sealed before the first leg.',
  },
  undecided: {
    tone: 'open',
    shape: shape(DIAMOND, QUESTION),
    help: 'Nothing is wrong, but what was measured cannot decide it. The reason says what is missing.',
  },
  void: { tone: 'open', shape: shape(DIAMOND, STRIKE), help: 'The legs may not be judged: how they ran was not in order. Nothing was compared.' },
  'not-run': { tone: 'quiet', shape: shape(<circle cx="8" cy="8" r="7" class="line dashed" />), help: 'Asked for, but never measured on this device.' },
};

/** The word with its shape. The shape alone tells good, bad and open apart, without colour. */
export function VerdictBadge({ word }: { readonly word: VerdictWord }): Child {
  const look = LOOKS[word];
  return (
    <span class={`verdict ${look.tone}`}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
        {look.shape}
      </svg>
      {word}
    </span>
  );
}

/** What the rule said of an A/A run: no verdict on a change, so without its colour and shape. */
export function AboutDevice({ word }: { readonly word: string }): Child {
  return <span class="dim">A/A: {clean(word)}</span>;
}

/** One help line for each word that the page shows. */
export function VerdictHelp({ words }: { readonly words: readonly VerdictWord[] }): Child {
  return (
    <dl class="help">
      {[...new Set(words)].map((word) => (
        <div>
          <dt>
            <VerdictBadge word={word} />
          </dt>
          <dd>{LOOKS[word].help}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Whether a text is one of the verdict words (run summaries carry them as text). */
export function isVerdictWord(word: string): word is VerdictWord {
  return Object.hasOwn(LOOKS, word);
}
