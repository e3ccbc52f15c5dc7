/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { staticUrl } from './static-files.ts';

export interface LayoutProps {
  readonly title: string;
  /** The page changes by itself: the module then re-fetches it and swaps the sections that changed. */
  readonly live: boolean;
  readonly children?: Child;
}

/** The frame of every page. No inline script, no inline style: the content security policy allows neither. */
export function Layout({ title, live, children }: LayoutProps): Child {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href={staticUrl('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={staticUrl('style.css')} />
        <script type="module" src={staticUrl('page.js')}></script>
      </head>
      <body data-live={live ? 'yes' : 'no'}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="bar">
          <a class="home" href="/">
            fleet
          </a>
          <a href="/forecasts">forecasts</a>
          {live && (
            <noscript>
              <span class="aside">Without JavaScript this page does not follow by itself: reload it.</span>
            </noscript>
          )}
        </header>
        <main id="main">{children}</main>
        <footer>
          <p>Every figure is rendered from stored records. Times are UTC. What the words mean: README.md of fleet, section “Words”.</p>
        </footer>
      </body>
    </html>
  );
}
