/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { clean } from '../show.ts';

export function NotFoundPage({ what }: { readonly what: string }): Child {
  return (
    <>
      <h1>Not here</h1>
      <p>
        There is no {clean(what)}. <a href="/">All runs and devices</a>, or <code>fleet status</code>.
      </p>
    </>
  );
}
