import { templateProblems } from '@plinth/contracts/template/problems';
import { Problem } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/log';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { Chromium } from './chromium';
import { printOptionsOf } from './page-setup';
import type { FrontMatter } from './language/front-matter';

export interface PdfOptions {
  /** Documents printed at the same time. */
  pages: number;
  /** Documents that may wait; more are refused with 503. */
  queueMax: number;
  /** Documents after which the browser is replaced by a new one. */
  documentsPerBrowser: number;
  millisecondsMax: number;
}

export interface PdfPrinter {
  print(tenantId: string, html: string, front: FrontMatter, signal?: AbortSignal): Promise<Buffer>;
  /** Starts the browser, so that the first document does not wait for it. */
  warm(): Promise<void>;
  /** Documents that wait, and how many were refused since the start, for metrics. */
  waiting(): number;
  refused(): number;
  close(): Promise<void>;
}

/** The only address there is; the browser never asks anybody for it. */
const DOCUMENT_URL = 'http://document.invalid/';

/** The document may use what it carries in itself, and run nothing. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline' data:; font-src data:; sandbox";

/** A tab that is ready to print. It is used again for the same tenant only. */
interface Sheet {
  tenantId: string | undefined;
  context: BrowserContext;
  page: Page;
}

/** One browser, and what it has done. */
interface Press {
  browser: Browser;
  printed: number;
  printing: number;
  isRetired: boolean;
  /** Tabs that nobody has used. */
  fresh: Promise<Sheet>[];
  used: Sheet[];
}

/** Prints documents in a browser that is started once and kept warm. */
export function pdfPrinter(chromium: Chromium | undefined, options: PdfOptions, log: Log): PdfPrinter {
  let press: Promise<Press> | undefined;
  let current: Press | undefined;
  let running = 0;
  let refused = 0;
  const waiting: (() => void)[] = [];

  const startPress = async (): Promise<Press> => {
    if (!chromium) {
      throw new Problem(
        'unsupported',
        'There is no Chromium here, so nothing can be printed. Set PUPPETEER_EXECUTABLE_PATH.',
      );
    }
    const browser = await chromium.launch();
    const started: Press = { browser, printed: 0, printing: 0, isRetired: false, fresh: [], used: [] };
    current = started;
    browser.once('disconnected', () => retire(started));
    tidy(started);
    return started;
  };

  const currentPress = (): Promise<Press> => {
    press ??= startPress().catch((error: unknown) => {
      press = undefined;
      throw error instanceof Problem
        ? error
        : templateProblems['renderer-busy']('The PDF printer does not start; try again.', {
            retryAfterSeconds: 10,
            cause: error,
          });
    });
    return press;
  };

  /** Takes a browser out of service; it ends when its last document is printed. */
  const retire = (old: Press): void => {
    if (old.isRetired) return;
    old.isRetired = true;
    if (current === old) press = undefined;
    if (old.printing === 0) void end(old.browser);
  };

  const printOn = async (one: Press, tenantId: string, html: string, front: FrontMatter): Promise<Buffer> => {
    one.printing++;
    one.printed++;
    if (one.printed >= options.documentsPerBrowser) retire(one);
    let sheet: Sheet | undefined;
    try {
      sheet = await takeSheet(one, tenantId);
      const pdf = await fill(sheet, html, front, options.millisecondsMax);
      // A document that got the page to go elsewhere took it out of our policy.
      if (sheet.page.url() === DOCUMENT_URL) {
        one.used.push(sheet);
        sheet = undefined;
      }
      return pdf;
    } catch (error) {
      // What did not end in time may still be at work in there.
      if (isTooLong(error)) retire(one);
      throw error;
    } finally {
      one.printing--;
      void sheet?.context.close().catch(() => {});
      if (one.isRetired && one.printing === 0) void end(one.browser);
      else if (!one.isRetired) tidy(one);
    }
  };

  /** Keeps as many tabs as may print at once, and as many unused ones. */
  const tidy = (one: Press): void => {
    while (one.used.length > options.pages)
      void one.used
        .shift()!
        .context.close()
        .catch(() => {});
    while (one.fresh.length < options.pages) prepare(one);
  };

  const admitted = async <Result>(
    work: () => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> => {
    if (running >= options.pages) {
      if (waiting.length >= options.queueMax) {
        refused++;
        throw templateProblems['renderer-busy']('Too many documents wait to be printed.', {
          retryAfterSeconds: 5,
        });
      }
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve);
        signal?.addEventListener(
          'abort',
          () => {
            const index = waiting.indexOf(resolve);
            if (index === -1) return;
            waiting.splice(index, 1);
            reject(signal.reason as Error);
          },
          { once: true },
        );
      });
    } else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };

  return {
    print: (tenantId, html, front, signal) =>
      admitted(async () => {
        const attempt = async () => printOn(await currentPress(), tenantId, html, front);
        const explained = (error: unknown): never => {
          if (error instanceof Problem) throw error;
          throw templateProblems['template-too-expensive'](
            'The document cannot be printed within the limits.',
            { cause: error },
          );
        };
        return attempt().catch((error: unknown) => {
          if (error instanceof Problem || isTooLong(error)) return explained(error);
          // A browser that died under the document of somebody else deserves one more try.
          log.warn({ err: error }, 'a document could not be printed; trying once more');
          return attempt().catch(explained);
        });
      }, signal),
    warm: async () => void (await currentPress()),
    waiting: () => waiting.length,
    refused: () => refused,
    async close() {
      const last = await press?.catch(() => undefined);
      if (last) await end(last.browser);
    },
  };
}

/** Also what Puppeteer calls its own time-outs. */
const isTooLong = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' ||
    (error instanceof Problem && error.slug === templateProblems['template-too-expensive'].slug));

const prepare = (press: Press): void => {
  const sheet = newSheet(press.browser);
  sheet.catch(() => {});
  press.fresh.push(sheet);
};

/** A tab that this tenant has used before, else one that nobody has. */
async function takeSheet(press: Press, tenantId: string): Promise<Sheet> {
  const index = press.used.findIndex((sheet) => sheet.tenantId === tenantId);
  const [known] = index === -1 ? [] : press.used.splice(index, 1);
  if (known) return known;
  const sheet = await (press.fresh.shift() ?? newSheet(press.browser));
  sheet.tenantId = tenantId;
  return sheet;
}

/**
 * Opens an empty page under our policy. Documents are then written into it, so the policy holds for all of them and
 * nothing is ever fetched: the one answer is our own, whatever else is asked for is refused.
 */
async function newSheet(browser: Browser): Promise<Sheet> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setJavaScriptEnabled(false);
  const session = await page.createCDPSession();
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
  let isServed = false;
  session.on('Fetch.requestPaused', ({ requestId, request, resourceType }) => {
    const isEmptyPage = !isServed && request.url === DOCUMENT_URL && resourceType === 'Document';
    isServed ||= isEmptyPage;
    const answer = isEmptyPage
      ? session.send('Fetch.fulfillRequest', { requestId, ...emptyPage })
      : session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    answer.catch(() => {});
  });
  await page.goto(DOCUMENT_URL, { waitUntil: 'load' });
  return { tenantId: undefined, context, page };
}

const emptyPage = {
  responseCode: 200,
  responseHeaders: [
    { name: 'Content-Type', value: 'text/html; charset=utf-8' },
    { name: 'Content-Security-Policy', value: CONTENT_SECURITY_POLICY },
  ],
  body: Buffer.from('<!doctype html>').toString('base64'),
};

/** Writes a document into the page and prints it. */
async function fill(
  { page }: Sheet,
  html: string,
  front: FrontMatter,
  millisecondsMax: number,
): Promise<Buffer> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const detail = 'Printing the document takes longer than is allowed.';
    timer = setTimeout(() => reject(templateProblems['template-too-expensive'](detail)), millisecondsMax);
  });
  const printed = page
    .setContent(html, { waitUntil: 'load', timeout: millisecondsMax })
    .then(() => page.pdf({ ...printOptionsOf(front), timeout: millisecondsMax }));
  printed.catch(() => {});
  try {
    return Buffer.from(await Promise.race([printed, tooLong]));
  } finally {
    clearTimeout(timer);
  }
}

const ENDING_MILLISECONDS_MAX = 5_000;

/** Ends a browser, by force when it does not go by itself. */
async function end(browser: Browser): Promise<void> {
  const child = browser.process();
  const force = setTimeout(() => child?.kill('SIGKILL'), ENDING_MILLISECONDS_MAX);
  await browser.close().catch(() => child?.kill('SIGKILL'));
  clearTimeout(force);
}
