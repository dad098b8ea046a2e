import { templateProblems } from '@plinth/contracts/template/problems';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { Problem } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/process/log';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { FairPlaces } from '@plinth/runtime/process/fair-places';
import { rendererBusy, rendererFull, templateTooExpensive } from '../domain/problems';
import type { Chromium } from './chromium';
import { printOptionsOf } from './page-setup';
import type { FrontMatter } from './language/front-matter';

export interface PdfOptions {
  /** Documents printed at the same time. */
  pages: number;
  /** Documents that may wait; more are refused. */
  queueMax: number;
  /** Documents after which the browser is replaced by a new printBrowser. */
  documentsPerBrowser: number;
  millisecondsMax: number;
}

export interface PdfPrinter {
  print(owner: ShareOwner, html: string, front: FrontMatter, signal?: AbortSignal): Promise<Buffer>;
  /** Starts the browser, so that the first document does not wait for it. */
  warm(): Promise<void>;
  /** Where documents are printed, for metrics. */
  places: FairPlaces;
  close(): Promise<void>;
}

const RETRY_AFTER_SECONDS = 5;

/** The only address that the browser may load; it is served from here, without a network. */
const DOCUMENT_URL = 'http://document.invalid/';

/** The document may use what it carries in itself, and run nothing. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline' data:; font-src data:; sandbox";

/** A tab that is ready to print. It is used again for the same tenant only. */
interface Tab {
  tenantId: string | undefined;
  context: BrowserContext;
  page: Page;
}

/** A browser with its tabs, and how much it has printed. */
interface PrintBrowser {
  browser: Browser;
  printed: number;
  printing: number;
  isRetired: boolean;
  /** Tabs that no tenant has used. */
  fresh: Promise<Tab>[];
  used: Tab[];
}

/** Prints documents in a browser that is started once and kept warm. */
export function pdfPrinter(chromium: Chromium | undefined, options: PdfOptions, log: Log): PdfPrinter {
  let starting: Promise<PrintBrowser> | undefined;
  let current: PrintBrowser | undefined;
  const places = new FairPlaces({
    places: options.pages,
    waitingMax: options.queueMax,
    refused: (scope) => rendererFull(scope, 'documents waiting to be printed', RETRY_AFTER_SECONDS),
  });

  const start = async (): Promise<PrintBrowser> => {
    if (!chromium) {
      throw new Problem(
        'unsupported',
        'PDF is not available: Chromium was not found. Set PUPPETEER_EXECUTABLE_PATH.',
      );
    }
    const browser = await chromium.launch();
    const started: PrintBrowser = { browser, printed: 0, printing: 0, isRetired: false, fresh: [], used: [] };
    current = started;
    browser.once('disconnected', () => retire(started));
    balanceTabs(started);
    return started;
  };

  const currentBrowser = (): Promise<PrintBrowser> => {
    starting ??= start().catch((error: unknown) => {
      starting = undefined;
      throw error instanceof Problem ? error : rendererBusy('Chromium did not start; try again.', 10, error);
    });
    return starting;
  };

  /** Takes a browser out of service; it is closed when its last document is printed. */
  const retire = (old: PrintBrowser): void => {
    if (old.isRetired) return;
    old.isRetired = true;
    if (current === old) starting = undefined;
    if (old.printing === 0) void closeBrowser(old.browser);
  };

  const printOn = async (
    printBrowser: PrintBrowser,
    tenantId: string,
    html: string,
    front: FrontMatter,
  ): Promise<Buffer> => {
    printBrowser.printing++;
    printBrowser.printed++;
    if (printBrowser.printed >= options.documentsPerBrowser) retire(printBrowser);
    let tab: Tab | undefined;
    try {
      tab = await takeTab(printBrowser, tenantId);
      const pdf = await printDocument(tab, html, front, options.millisecondsMax);
      // A document that made the page navigate left our content security policy.
      if (tab.page.url() === DOCUMENT_URL) {
        printBrowser.used.push(tab);
        tab = undefined;
      }
      return pdf;
    } catch (error) {
      // What did not end in time may still be running in the browser.
      if (isTimeout(error)) retire(printBrowser);
      throw error;
    } finally {
      printBrowser.printing--;
      void tab?.context.close().catch(() => {});
      if (printBrowser.isRetired && printBrowser.printing === 0) void closeBrowser(printBrowser.browser);
      else if (!printBrowser.isRetired) balanceTabs(printBrowser);
    }
  };

  /** Keeps as many used tabs as may print at once, and as many unused ones. */
  const balanceTabs = (printBrowser: PrintBrowser): void => {
    while (printBrowser.used.length > options.pages)
      void printBrowser.used
        .shift()!
        .context.close()
        .catch(() => {});
    while (printBrowser.fresh.length < options.pages) openFreshTab(printBrowser);
  };

  return {
    print: (owner, html, front, signal) => {
      const print = async (): Promise<Buffer> => {
        const attempt = async () => printOn(await currentBrowser(), owner.tenantId, html, front);
        const explained = (error: unknown): never => {
          if (error instanceof Problem) throw error;
          throw templateTooExpensive('The document cannot be printed within the limits.', error);
        };
        return attempt().catch((error: unknown) => {
          if (error instanceof Problem || isTimeout(error)) return explained(error);
          // The browser may have crashed over the document of another request.
          log.warn({ err: error }, 'printing a document failed; will retry once');
          return attempt().catch(explained);
        });
      };
      return places.run(owner, print, signal);
    },
    warm: async () => void (await currentBrowser()),
    places,
    async close() {
      const last = await starting?.catch(() => undefined);
      if (last) await closeBrowser(last.browser);
    },
  };
}

/** Puppeteer throws a TimeoutError of its own. */
const isTimeout = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' ||
    (error instanceof Problem && error.slug === templateProblems['template-too-expensive'].slug));

const openFreshTab = (printBrowser: PrintBrowser): void => {
  const tab = openTab(printBrowser.browser);
  tab.catch(() => {});
  printBrowser.fresh.push(tab);
};

/** A tab that this tenant has used before, else a fresh one. */
async function takeTab(printBrowser: PrintBrowser, tenantId: string): Promise<Tab> {
  const index = printBrowser.used.findIndex((tab) => tab.tenantId === tenantId);
  const [known] = index === -1 ? [] : printBrowser.used.splice(index, 1);
  if (known) return known;
  const tab = await (printBrowser.fresh.shift() ?? openTab(printBrowser.browser));
  tab.tenantId = tenantId;
  return tab;
}

/**
 * Opens an empty page under our content security policy. Documents are then written into it, so the policy holds for
 * all of them and nothing is ever fetched: the first request is served from here, all others are refused.
 */
async function openTab(browser: Browser): Promise<Tab> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setJavaScriptEnabled(false);
  const session = await page.createCDPSession();
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
  let isServed = false;
  session.on('Fetch.requestPaused', ({ requestId, request, resourceType }) => {
    const isEmptyPage = !isServed && request.url === DOCUMENT_URL && resourceType === 'Document';
    isServed ||= isEmptyPage;
    const response = isEmptyPage
      ? session.send('Fetch.fulfillRequest', { requestId, ...emptyPage })
      : session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    response.catch(() => {});
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
async function printDocument(
  { page }: Tab,
  html: string,
  front: FrontMatter,
  millisecondsMax: number,
): Promise<Buffer> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const detail = 'Printing the document takes longer than is allowed.';
    timer = setTimeout(() => reject(templateTooExpensive(detail)), millisecondsMax);
  });
  const printed = page
    .setContent(html, { waitUntil: 'load', timeout: millisecondsMax })
    .then(() => page.pdf({ ...printOptionsOf(front), timeout: millisecondsMax }));
  printed.catch(() => {});
  try {
    return Buffer.from(await Promise.race([printed, timeout]));
  } finally {
    clearTimeout(timer);
  }
}

const CLOSE_MILLISECONDS_MAX = 5_000;

/** Closes a browser, by force when it does not exit by itself. */
async function closeBrowser(browser: Browser): Promise<void> {
  const child = browser.process();
  const force = setTimeout(() => child?.kill('SIGKILL'), CLOSE_MILLISECONDS_MAX);
  await browser.close().catch(() => child?.kill('SIGKILL'));
  clearTimeout(force);
}
