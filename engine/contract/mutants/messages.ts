/** What the contract command and its judging child process say to each other. */
import type { Judgement } from './judge.ts';

/** Judge this source of a kernel; null: as shipped. */
export interface Question {
  readonly kernel: string;
  readonly source: string | null;
}

export type Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'step' }
  | { readonly kind: 'judged'; readonly judgement: Judgement }
  | { readonly kind: 'broke'; readonly reason: string };
