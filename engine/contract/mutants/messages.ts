/** What the contract command and its judging child process say to each other. */
import type { Edits } from '../../gpu/kernel-source.ts';
import type { Judgement } from './judge.ts';

/** Judge a kernel with one of its shader files edited; null: as shipped. */
export interface Question {
  readonly kernel: string;
  readonly edits: Edits | null;
}

export type Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'step' }
  | { readonly kind: 'judged'; readonly judgement: Judgement }
  | { readonly kind: 'broke'; readonly reason: string };
