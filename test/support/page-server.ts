/** The page routes on a loopback port of their own, and a headless Chromium to look at them. */
import { existsSync } from 'node:fs';
import { serve, type ServerType } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser } from 'playwright-core';
import type { Hono } from 'hono';

/** Serves until `close` is called. */
export async function servePages(app: Hono): Promise<{ url: string; close: () => Promise<void> }> {
  const server = await new Promise<ServerType>((resolve) => {
    const started: ServerType = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve(started));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

const SYSTEM_CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The system's Chromium where there is one, else the one that @sparticuz/chromium unpacks. No network but loopback is used. */
export async function launchBrowser(): Promise<Browser> {
  const system = SYSTEM_CHROMIUM.find((path) => existsSync(path));
  const executablePath = system ?? (await (await import('@sparticuz/chromium')).default.executablePath());
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
