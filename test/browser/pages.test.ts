import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviceView } from '../../coordinator/protocol/agent.ts';
import type { ForecastRow } from '../../coordinator/protocol/forecasts.ts';
import type { RunView } from '../../coordinator/protocol/run.ts';
import { summariseForecasts } from '../../coordinator/core/forecast-summary.ts';
import { parseForecast, scoreForecast } from '../../coordinator/core/forecast.ts';
import { renderMarkdown } from '../../coordinator/core/report.ts';
import { renderCsv } from '../../coordinator/core/report-csv.ts';
import { CONTENT_SECURITY_POLICY, webRoutes } from '../../web/app.tsx';
import { launchBrowser, servePages } from '../support/page-server.ts';
import { B60, B60_TIMES, calibratingRun, decodeOf, faultyRun, goodRun, judgedJob, runOf, summaryOf, waitingJob } from '../support/run-views.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const good = goodRun();
const hostile = '<img src=x onerror="document.title=1">\u001b[31mred\u001b[0m\u202eabc';
const faulty = faultyRun('r7m2p4t8vxy', hostile);
const calibrating = calibratingRun();
const runs = new Map<string, RunView>([
  [good.run, good],
  [calibrating.run, calibrating],
  [faulty.run, faulty],
]);
const devices: DeviceView[] = [
  {
    device: 'b60',
    adapter: B60,
    driver: 'Mesa 26.3.0-devel',
    evidence: 'gpu',
    lockPath: '/home/joshua/gpu.lock',
    host: 'bench-2',
    live: true,
    lastSeenAt: '2026-11-29T12:05:02Z',
    activity: 'waiting-lock',
    job: 'r7m2p4t8vxy.b60.decode',
    note: 'held 12 min by joshua (pid 4121)',
  },
  {
    device: 'swiftshader',
    adapter: 'SwiftShader Device (LLVM 16.0.0)',
    driver: 'SwiftShader 5.0',
    evidence: 'software',
    lockPath: '/tmp/software.lock',
    host: 'bench-2',
    live: false,
    lastSeenAt: '2026-11-29T11:05:02Z',
    activity: 'idle',
    job: null,
    note: '',
  },
];

const AT = '2026-11-29T12:03:41.000Z';
/** The good run's effects against one forecast. */
function forecastsOf(view: RunView): ForecastRow[] {
  return view.jobs.flatMap((job) =>
    job.verdicts.flatMap(({ device, suite, candidate, effects }) =>
      scoreForecast(parseForecast('8% to 12% (80%); unicode: 5% to 70%'), device, 1, effects).map((score) => ({
        ...score,
        run: view.run,
        at: AT,
        device,
        suite,
        candidate,
      })),
    ),
  );
}

let browser: Browser;
let site: Awaited<ReturnType<typeof servePages>>;

beforeAll(async () => {
  const app = webRoutes({
    run: (id) => runs.get(id) ?? null,
    runs: () => [...runs.values()].map(summaryOf),
    devices: () => devices,
    forecasts: () => ({
      schema: 1,
      ...summariseForecasts(forecastsOf(good)),
      unscored: [{ run: faulty.run, at: AT, forecast: '5% to 15%', note: 'not judged yet' }],
    }),
    renderMarkdown,
  });
  app.get('/api/runs/:run/report', (c) => {
    const view = runs.get(c.req.param('run'))!;
    return c.req.query('format') === 'csv' ? c.text(renderCsv(view)) : c.json(view);
  });
  site = await servePages(app);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Opens a path; every console message and page error is kept, a refusal by the content security policy among them. */
async function visit(path: string, options: BrowserContextOptions = {}): Promise<{ page: Page; messages: string[]; done: () => Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const messages: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(error.message));
  await page.goto(site.url + path);
  return { page, messages, done: () => context.close() };
}

/** Violations of WCAG 2 A and AA, one line each. `evaluate` runs outside of the page's policy. */
async function axe(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    interface Axe {
      run(context: unknown, options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[]; passes: unknown[] }>;
    }
    const { axe: checker, document } = globalThis as unknown as { axe: Axe; document: unknown };
    const result = await checker.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
    if (result.passes.length === 0) return ['axe checked nothing'];
    return result.violations.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.html} ${node.failureSummary ?? ''}`));
  });
}

/** Opens every fold, so that what they hold is checked too. */
const unfold = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as { document: { querySelectorAll(selector: string): Iterable<{ open: boolean }> } };
    for (const details of document.querySelectorAll('details')) details.open = true;
  });

describe('every page, light and dark', () => {
  it.each([
    ['the home page', '/'],
    ['a good run', `/runs/${good.run}`],
    ['a run with a fault, still running', `/runs/${faulty.run}`],
    ['an A/A calibration', `/runs/${calibrating.run}`],
    ['forecasts', '/forecasts'],
    ['no such run', '/runs/r0000000000'],
  ])('%s has no policy refusal and no axe violation', async (_, path) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, messages, done } = await visit(path, { colorScheme });
      await unfold(page);
      expect({ colorScheme, violations: await axe(page) }).toEqual({ colorScheme, violations: [] });
      expect(messages.filter((text) => !text.includes('404'))).toEqual([]);
      await done();
    }
  });

  it('the policy is strict, and does refuse an inline script and a style attribute', async () => {
    const { page, messages, done } = await visit('/');
    expect(CONTENT_SECURITY_POLICY).toContain("default-src 'none'");
    expect(CONTENT_SECURITY_POLICY).not.toContain('unsafe');
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<p style="color:red">x</p>'); const s = document.createElement('script'); s.textContent = 'globalThis.ran = 1'; document.body.append(s);`,
    );
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(messages.filter((text) => /Content Security Policy/i.test(text)).length).toBeGreaterThanOrEqual(2);
    await done();
  });

  it('sends nosniff with pages and files, and serves listed files only', async () => {
    for (const path of ['/', `/runs/${good.run}`, '/static/style.css', '/static/page.js']) {
      const reply = await fetch(site.url + path);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
      expect(reply.headers.get('content-security-policy')).toBe(CONTENT_SECURITY_POLICY);
    }
    for (const path of ['/static/app.tsx', '/static/..%2fapp.tsx', '/runs/..%2f..%2fx', '/runs/r0000000000'])
      expect((await fetch(site.url + path)).status).toBe(404);
  });
});

describe('a good run', () => {
  it('shows how near each kernel is to its bound in both arms, and the cases behind a drift', async () => {
    const { page, done } = await visit(`/runs/${good.run}`);
    await unfold(page);
    const row = page.locator('.contract tr', { has: page.locator('th', { hasText: /^attention$/ }) }).first();
    expect(await row.locator('summary').innerText()).toBe('0.670 → 0.750, 1 case differs');
    expect(await row.locator('li').innerText()).toBe('1x64x64/normal/scalar: 0.670 → 0.750, bits differ');
    await done();
  });

  it('copies what the report command prints, as CSV, JSON and Markdown', async () => {
    const { page, messages, done } = await visit(`/runs/${good.run}`, { permissions: ['clipboard-read', 'clipboard-write'] });
    await unfold(page);
    const copied = async (name: string): Promise<string> => {
      const button = page.locator('#markdown-section').getByRole('button', { name, exact: true });
      await button.click();
      await button.and(page.getByText('Copied')).waitFor();
      return page.evaluate('navigator.clipboard.readText()');
    };
    expect(await copied('Copy as CSV')).toBe(renderCsv(good));
    expect(JSON.parse(await copied('Copy as JSON'))).toEqual(JSON.parse(JSON.stringify(good)));
    const markdown = page.locator('button[data-copy="markdown-source"]');
    await markdown.click();
    await markdown.and(page.getByText('Copied')).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(renderMarkdown(good));
    expect(messages).toEqual([]);
    await done();
  });

  it('shows each verdict with its evidence, without JavaScript', async () => {
    const { page, done } = await visit(`/runs/${good.run}`, { javaScriptEnabled: false });
    const rows = await page.locator('.verdicts tbody tr').allInnerTexts();
    expect(rows.map((row) => row.split(/\s+/).slice(0, 4).join(' '))).toEqual([
      'b60 gpu contract same',
      'b60 gpu decode rule-met',
      'lavapipe software contract same',
      'lavapipe software decode rule-not-met',
      'swiftshader software contract same',
      'swiftshader software decode undecided',
    ]);
    expect(await page.locator('section', { has: page.locator('#device-swiftshader') }).innerText()).toContain('Nothing here is evidence about any GPU');
    expect(await page.locator('#seal').innerText()).toContain(good.seal.sha256);
    expect(await page.locator('#markdown-source').textContent()).toContain('### fleet [r3k9x0c2wqz]');
    await done();
  });

  it('shows gains that a reader can recompute from the times beside them', async () => {
    const { page, done } = await visit(`/runs/${good.run}`);
    const rows = await page
      .locator('tr[id*="-pair-"]')
      .evaluateAll((found) => found.map((row) => [...(row as unknown as { cells: Iterable<{ textContent: string }> }).cells].map((cell) => cell.textContent)));
    expect(rows).toHaveLength(18);
    for (const [, , baseline, , candidate, , shown] of rows) {
      const [base, cand] = [baseline, candidate].map((text) => Number(text!.replaceAll(',', '')));
      const gain = ((base! - cand!) / base!) * 100;
      expect(Number(shown!.replace('−', '-'))).toBeCloseTo(gain, 2);
    }
    expect(rows.slice(0, 3).map((row) => row.at(-1))).toEqual(['+65.02', '+65.04', '+64.51']);
    expect(rows[1]!.slice(0, 6)).toEqual(['2', 'candidate', '13,533.0', '3', '4,731.0', '2']);
    await done();
  });

  it('plots every pair with a title and description, flags another mode, names masked fields', async () => {
    const { page, done } = await visit(`/runs/${good.run}`);
    const plots = page.locator('svg.plot');
    expect(await plots.count()).toBe(6);
    expect(await plots.first().locator('title').textContent()).toBe('Gain of each pair, unicode');
    expect(await plots.first().locator('desc').textContent()).toContain('+65.02, +65.04, +64.51');
    expect(await page.locator('svg.plot .flagged').count()).toBe(1);
    expect(await page.locator('.flag').innerText()).toContain('candidate leg 1.89× its arm’s median: another mode');
    const contract = page.locator('#job-b60-contract');
    expect(await contract.innerText()).toContain('Masked before comparing: gates ms');
    const cells = await contract.locator('table.lines tbody tr').first().locator('td').allInnerTexts();
    expect(cells[1]).toBe(cells[2]);
    expect(cells[1]).toContain('7 kernels: 7 pass gates 1-4, 0 fail, 0 known findings; 7 controls: 7 caught, 0 missed');
    await done();
  });

  it('links every leg to its raw log and records', async () => {
    const { page, done } = await visit(`/runs/${good.run}`);
    const links = await page.locator('#legs-b60-decode a').evaluateAll((found) => found.map((link) => link.getAttribute('href')));
    const legs = good.jobs.find((job) => job.device === 'b60' && job.suite === 'decode')!.legs;
    expect(links).toEqual(legs.flatMap((leg) => [`/api/blobs/${leg.log}`, `/api/blobs/${leg.records}`]));
    await done();
  });
});

describe('a run with a planted fault', () => {
  it('says new-failure and output-differs with the first differing step, and shows no gain', async () => {
    const { page, done } = await visit(`/runs/${faulty.run}`);
    expect(await page.locator('#job-swiftshader-contract .finding').innerText()).toContain('new-failure');
    const decode = page.locator('#job-swiftshader-decode');
    expect(await decode.locator('.finding').innerText()).toContain('output-differs');
    expect(await decode.locator('.finding').innerText()).toContain('first differing step 5');
    expect(await page.locator('tr[id*="-pair-"], svg.plot').count()).toBe(0);
    expect(await page.locator('#job-swiftshader-stages mark').allInnerTexts()).toEqual(['21', '20']);
    await done();
  });

  it('shows what was not measured, and why', async () => {
    const { page, done } = await visit(`/runs/${faulty.run}`);
    const coverage = await page.locator('#coverage-section').innerText();
    expect(coverage).toContain('6 of 10 cells measured, 0 void, 2 pending, 2 not run.');
    expect(coverage).toContain('held 12 min by joshua');
    expect(coverage).toContain('npm ci failed in aaaaaaaaaaaa');
    await done();
  });

  it('shows foreign text as text, without terminal controls', async () => {
    const { page, done } = await visit(`/runs/${faulty.run}`);
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.title()).toContain('HEAD[qmm=vec4] against HEAD[qmm=scalar]');
    expect(await page.locator('#heads-section tbody tr').nth(1).locator('td').last().textContent()).toBe('<img src=x onerror="document.title=1">redabc');
    await done();
  });
});

it('the home page says what each device is doing and who holds the lock', async () => {
  const { page, done } = await visit('/');
  const text = await page.locator('#devices-section').innerText();
  expect(text).toContain('waiting-lock r7m2p4t8vxy.b60.decode');
  expect(text).toContain('held 12 min by joshua (pid 4121)');
  expect(text).toContain('silent');
  await page.getByRole('link', { name: good.run }).click();
  expect(page.url()).toBe(`${site.url}/runs/${good.run}`);
  await done();
});

it('a running page follows the run, keeps folds open, and stops when the run is done', async () => {
  const run = 'r5f0110w000';
  const gpu = { device: 'b60', evidence: 'gpu', adapterName: B60 } as const;
  const input = decodeOf(B60_TIMES, false, gpu);
  runs.set(run, runOf(run, [waitingJob(run, input, B60, 'running', 'leg 3 of 12')]));
  const { page, messages, done } = await visit(`/runs/${run}`);
  await page.locator('#seal summary').click();
  await page.locator('h1').click();
  expect(await page.locator('.verdicts').innerText()).toContain('running');
  runs.set(run, runOf(run, [judgedJob(run, input, B60)]));
  await page.locator('.verdicts .verdict', { hasText: 'rule-met' }).waitFor({ timeout: 15_000 });
  expect(await page.locator('#seal').getAttribute('open')).not.toBeNull();
  expect(await page.locator('body').getAttribute('data-live')).toBe('no');
  expect(messages).toEqual([]);
  runs.delete(run);
  await done();
});

it('scrolls tables, never the page, on a narrow screen', async () => {
  for (const path of ['/', `/runs/${good.run}`, `/runs/${faulty.run}`]) {
    const { page, done } = await visit(path, { viewport: { width: 390, height: 844 } });
    await unfold(page);
    expect({ path, width: await page.evaluate('document.documentElement.scrollWidth') }).toEqual({ path, width: 390 });
    await done();
  }
});
