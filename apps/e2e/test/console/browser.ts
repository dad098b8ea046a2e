/// <reference lib="dom" />
import type * as axeCore from 'axe-core';
import { readFileSync } from 'node:fs';
import { eventually } from '@plinth/testing/eventually';
import { launchChromium, PAGE_MILLISECONDS_MAX } from '@plinth/testing/launch-chromium';
import type { Browser, BrowserContextOptions, Locator, Page, Route } from 'playwright-core';
import { startJourney, tenants, type Journey } from '../platform';

/** A window of a real browser that can reach nothing but the platform, and remembers what went wrong in it. */
interface ConsoleWindow {
  page: Page;
  /** What the page complained about, unless that is allowed: errors of scripts, refused by its policy, other origins that were asked. */
  complaints(): string[];
  /** What it complains about with these words is expected, before and after now: the browser tells it when it likes. */
  allow(words: string): void;
  /** Waits until it complained, which the browser may tell later than one sees why: once, with these words. Forgets it. */
  complained(words: string): Promise<void>;
  /** Bytes of scripts as they were sent. */
  scriptBytes(): Promise<number>;
  close(): Promise<void>;
}

interface ConsoleBrowser {
  open(options?: BrowserContextOptions): Promise<ConsoleWindow>;
  /** A window in which one of the people of the tenant of these journeys is signed in. */
  signIn(name: string, options?: BrowserContextOptions): Promise<ConsoleWindow>;
  close(): Promise<void>;
}

/**
 * A browser for the tests of a file, on the platform that journeys share. After each test its windows are closed, and
 * none of them may have complained.
 */
export function browserForTests(): Omit<ConsoleBrowser, 'close'> & { journey(): Journey } {
  let journey: Journey;
  let browser: ConsoleBrowser | undefined;
  let windows: ConsoleWindow[] = [];
  beforeAll(async () => {
    journey = await startJourney();
    browser = await startBrowser(journey.url);
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const complaints = windows.flatMap((window) => window.complaints());
    for (const window of windows) await window.close();
    windows = [];
    expect(complaints).toEqual([]);
  });
  const remember = (window: ConsoleWindow): ConsoleWindow => {
    windows.push(window);
    return window;
  };
  return {
    journey: () => journey,
    open: async (options) => remember(await browser!.open(options)),
    signIn: async (name, options) => remember(await browser!.signIn(name, options)),
  };
}

async function startBrowser(url: string): Promise<ConsoleBrowser> {
  const proxy = ['--proxy-server=127.0.0.1:1', '--proxy-bypass-list=localhost;127.0.0.1'];
  const browser = await launchChromium(...proxy);
  const open = (options: BrowserContextOptions = {}) => openWindow(browser, url, options);
  return {
    open,
    signIn: async (name, options) => {
      const window = await open(options);
      await window.page.goto('/console');
      await personOf(window.page, name).click();
      // The page of the sign-in has a heading too.
      await window.page.waitForURL(({ pathname }) => !pathname.endsWith('/sign-in'));
      await window.page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
      return window;
    },
    close: () => browser.close(),
  };
}

/** A person on the page of the development sign-in, in the tenant of these journeys. */
export const personOf = (page: Page, name: string): Locator =>
  page.getByRole('region', { name: tenants.console.name }).getByRole('button', { name });

/** Waits until the keys in a field point at this option, as those who hear the page are told: Enter chooses it then. */
export const isPointedAt = (page: Page, option: string) =>
  page.waitForFunction((text) => {
    const id = document.activeElement?.getAttribute('aria-activedescendant');
    return document.getElementById(id ?? '')?.textContent.includes(text);
  }, option);

/** Responds in the place of the platform, as it says that something went wrong. */
export const respondWithProblem = (
  route: Route,
  problem: { status: number; detail: string; type?: string; traceId?: string },
): Promise<void> =>
  route.fulfill({
    status: problem.status,
    contentType: 'application/problem+json',
    json: { type: 'about:blank', title: 'Refused', ...problem },
  });

async function openWindow(
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<ConsoleWindow> {
  const context = await browser.newContext({
    baseURL: url,
    locale: 'en-US',
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(PAGE_MILLISECONDS_MAX);
  const page = await context.newPage();
  let complaints: string[] = [];
  const allowed: string[] = [];
  const unexpected = () => complaints.filter((one) => !allowed.some((words) => one.includes(words)));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The browser notes each 404, also one that a page expects.
    const isExpected = /status of 404/.test(message.text());
    if (message.type() === 'error' && !isExpected) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== url && /^http/.test(protocol)) complaints.push(`asks ${origin}`);
  });
  return {
    page,
    complaints: unexpected,
    allow: (words) => void allowed.push(words),
    complained: async (words) => {
      const found = await eventually(() => unexpected().length > 0 && unexpected());
      complaints = [];
      expect(found).toEqual([expect.stringContaining(words)]);
    },
    scriptBytes: () =>
      page.evaluate(() =>
        (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
          .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
          .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      ),
    close: () => context.close(),
  };
}

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What a checker of accessibility finds on the page as it is, in the window's size and colours. */
export async function violationsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  return page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: typeof axeCore };
    // What React Aria reads aloud while something is pending refers to the button as it was.
    const { violations } = await axe.run(
      { exclude: '[data-live-announcer]' },
      {
        runOnly: rules,
        // What it describes of the rest, and reads style sheets for, takes longer than the checks.
        resultTypes: ['violations'],
        preload: false,
      },
    );
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`,
    );
  }, RULES);
}

/** The same in light and wide, and in dark and narrow, where the page must not scroll sideways either. */
export async function expectForEverybody(page: Page): Promise<void> {
  const size = page.viewportSize()!;
  expect(await violationsOf(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: null });
}

/** What moved by itself since the page was loaded, as it looked then. */
export const movedOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    type Shift = PerformanceEntry & { hadRecentInput: boolean; sources: readonly { node?: Element }[] };
    const observer = new PerformanceObserver(() => undefined);
    observer.observe({ type: 'layout-shift', buffered: true });
    const shifts = observer.takeRecords() as Shift[];
    observer.disconnect();
    return shifts
      .filter(({ hadRecentInput }) => !hadRecentInput)
      .flatMap(({ sources }) => sources.map(({ node }) => node?.outerHTML.slice(0, 200) ?? 'what is gone'));
  });
