import { setTimeout as pause } from 'node:timers/promises';
import { templateProblems } from '@plinth/contracts/template/problems';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { Problem, unavailable } from '@plinth/kernel/problem';
import { FairPlaces } from '@plinth/runtime/process/fair-places';
import type { Log } from '@plinth/runtime/process/log';
import { Counter, type Registry } from 'prom-client';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { browserNotFound, browserNotStarted, documentTooExpensive, tooManyDocuments } from '../problems';
import type { Chromium } from './chromium';
import { limitMemory, type MemoryWatch } from './browser-memory';
import { printOptionsOf, type PageSetup } from './page-setup';
import { endOrAbort, PrintTurns } from './print-turns';

export interface PdfOptions {
  /** Documents printed at the same time. */
  pages: number;
  /** Documents that may wait; more are refused. */
  queueMax: number;
  /** Documents after which the browser is replaced by a new one. */
  documentsPerBrowser: number;
  millisecondsMax: number;
  bytesMax: number;
  /** Of the browser with all its pages. */
  megabytesMax: number;
  /** After so long without a document the browser is closed, until the next one comes. */
  idleMilliseconds?: number;
}

/**
 * A browser at rest takes up to 3 ms of a processor each second and some 200 MB, and starts within a second or two: that is less
 * than what it takes in this time.
 */
const IDLE_MILLISECONDS = 120_000;

/** @throws Problem where the document is over a limit; the reason of the signal that gave the document up */
export type Print = (html: string, page: PageSetup) => Promise<Buffer>;

export interface PdfPrinter {
  /**
   * Waits for a place and works in it, with a function that prints.
   * @param signal gives up waiting and printing
   * @throws Problem where too many are waiting
   */
  inTurn<Result>(
    owner: ShareOwner,
    signal: AbortSignal,
    work: (print: Print) => Promise<Result>,
  ): Promise<Result>;
  /**
   * Starts the browser where it is not known that it starts: at first, and after a start that failed, a crash or a hang. One
   * that was closed because there was nothing to print is started by the next document only.
   * @throws Problem where it does not start
   */
  warm(): Promise<void>;
  /** Where documents are printed, for metrics. */
  places: FairPlaces;
  /** Gives back the documents that wait for a place, now and from now on, so that others print them. */
  refuseWaiting(): void;
  close(): Promise<void>;
}

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
  /** Rejects when its process ends. */
  crashed: Promise<never>;
  isCrashed: boolean;
}

/** Documents share the processors of one browser: what a tenant prints beside one of another slows that down. */
const PLACE_KEPT_MILLISECONDS = 5_000;

/** A browser with its tabs, and how much it has printed. */
interface PrintBrowser {
  browser: Browser;
  printed: number;
  printing: number;
  /** Begun while it prints: only then it may take more, and a watch wakes a process that rests. */
  memory: MemoryWatch;
  isRetired: boolean;
  /** Settled once it is retired and its last document is printed. */
  ended: PromiseWithResolvers<void>;
  /** Since when each tenant waits for that end. */
  awaitedSince: Map<string, number>;
  /** Runs while it has nothing to print. */
  idle: NodeJS.Timeout | undefined;
  /** The browser that takes over from it. */
  successor?: Promise<PrintBrowser>;
  /** How many of its processes were ended because together they took too much memory. */
  processesEnded: number;
  /** Tabs that no tenant has used. */
  fresh: Promise<Tab>[];
  /** Tabs whose last document is still in memory, until their tenant prints the next one. */
  used: Tab[];
}

/**
 * Prints documents in a browser that is kept warm while there are some.
 * @param findChromium is asked whenever a browser has to start, until there is one
 */
export function pdfPrinter(
  findChromium: () => Chromium | undefined,
  options: PdfOptions,
  log: Log,
  metrics: Registry,
): PdfPrinter {
  let chromium: Chromium | undefined;
  let current: Promise<PrintBrowser> | undefined;
  /** Whether the last start succeeded, and no browser has crashed or hung since. */
  let isStartable = false;
  const places = new FairPlaces({
    places: options.pages,
    waitingMax: options.queueMax,
    keptMilliseconds: PLACE_KEPT_MILLISECONDS,
    refused: tooManyDocuments,
  });

  const turns = new PrintTurns();
  /** Settled when a tenant may have the printer alone again. */
  const restsOfAlone = new Map<string, Promise<unknown>>();

  const browsers = new Counter({
    name: 'plinth_pdf_browsers_total',
    help: 'Browsers that were started.',
    registers: [metrics],
  });
  const documents = new Counter({
    name: 'plinth_pdf_documents_total',
    help: 'Documents, by how they ended: printed, refused (over a limit), cancelled, failed.',
    labelNames: ['result'],
    registers: [metrics],
  });

  const start = async (): Promise<PrintBrowser> => {
    chromium ??= findChromium();
    if (!chromium) throw browserNotFound();
    const browser = await chromium.launch();
    const memory = limitMemory(browser.process(), options.megabytesMax, () => {
      log.warn('the browser takes more memory than it may; its largest process is ended');
      started.processesEnded++;
    });
    const started: PrintBrowser = {
      browser,
      printed: 0,
      printing: 0,
      memory,
      isRetired: false,
      ended: Promise.withResolvers(),
      awaitedSince: new Map(),
      idle: undefined,
      processesEnded: 0,
      fresh: [],
      used: [],
    };
    browsers.inc();
    isStartable = true;
    browser.once('disconnected', () => {
      memory.end();
      giveUp(started);
    });
    balanceTabs(started);
    rest(started);
    return started;
  };

  const startOrExplain = (): Promise<PrintBrowser> =>
    start().catch((error: unknown) => {
      isStartable = false;
      if (error instanceof Problem) throw error;
      log.warn({ err: error }, 'Chromium did not start');
      throw browserNotStarted(error);
    });

  /** @param tenantId whose document it is for */
  const currentBrowser = async (tenantId?: string): Promise<PrintBrowser> => {
    for (;;) {
      const starting = (current ??= startOrExplain());
      const started = await starting.catch(() => undefined);
      if (started?.isRetired === false) return started;
      // Each may take all the memory there is for a browser.
      if (started && tenantId !== undefined && !started.awaitedSince.has(tenantId))
        started.awaitedSince.set(tenantId, performance.now());
      await started?.ended.promise;
      if (current === starting) current = started?.successor;
      if (!started) return starting;
    }
  };

  const end = ({ browser, ended }: PrintBrowser): void => {
    ended.resolve();
    void closeBrowser(browser);
  };

  /** Takes a browser out of service; it is closed when its last document is printed. */
  const retire = (old: PrintBrowser): void => {
    if (old.isRetired) return;
    old.isRetired = true;
    clearTimeout(old.idle);
    if (old.printing === 0) end(old);
  };

  /** Retires a browser that crashed or hangs. */
  const giveUp = (old: PrintBrowser): void => {
    if (!old.isRetired) isStartable = false;
    retire(old);
  };

  /** Has a browser wait for the next document, for a while. */
  const rest = (printBrowser: PrintBrowser): void => {
    printBrowser.memory.end();
    if (printBrowser.isRetired) return end(printBrowser);
    const { idleMilliseconds = IDLE_MILLISECONDS } = options;
    printBrowser.idle = setTimeout(() => retire(printBrowser), idleMilliseconds).unref();
  };

  /** Has a browser print on until another one is ready, so that no document waits for its start; then for its last document only. */
  const replace = async (old: PrintBrowser): Promise<void> => {
    if (old.successor) return;
    old.successor = startOrExplain();
    try {
      const { fresh } = await old.successor;
      await Promise.allSettled(fresh);
    } catch {
      // It prints on, and its next document tries again.
      delete old.successor;
      return;
    }
    retire(old);
  };

  const printOn = async (
    printBrowser: PrintBrowser,
    tenantId: string,
    html: string,
    page: PageSetup,
    signal: AbortSignal,
  ): Promise<Buffer> => {
    printBrowser.printing++;
    printBrowser.printed++;
    clearTimeout(printBrowser.idle);
    printBrowser.memory.begin();
    if (printBrowser.printed >= options.documentsPerBrowser) void replace(printBrowser);
    let tab: Tab | undefined;
    try {
      tab = await within(
        TAB_MILLISECONDS_MAX,
        signal,
        browserHangs,
        takeTab(printBrowser, tenantId),
        closeTab,
      );
      const printed = Promise.race([printDocument(tab, html, page, options), tab.crashed]);
      const pdf = await within(options.millisecondsMax, signal, printsTooLong, printed);
      // A document that made the page navigate left our content security policy.
      if (tab.page.url() === DOCUMENT_URL) {
        printBrowser.used.push(tab);
        tab = undefined;
      }
      return pdf;
    } catch (error) {
      // What did not end in time may still be running: beside the next documents, and for as long as the browser prints.
      const isToStop = tab !== undefined && (isTimeout(error) || signal.aborted);
      if (isToStop ? !(await isClosed(tab!)) : !tab && !signal.aborted) giveUp(printBrowser);
      throw error;
    } finally {
      printBrowser.printing--;
      if (tab) closeTab(tab);
      if (!printBrowser.isRetired) balanceTabs(printBrowser);
      if (printBrowser.printing === 0) {
        restAsOthersWaited(printBrowser, tenantId);
        rest(printBrowser);
      }
    }
  };

  /** Whose document a retired browser was kept for prints none for as long as other tenants waited for its end. */
  const restAsOthersWaited = ({ awaitedSince }: PrintBrowser, tenantId: string): void => {
    awaitedSince.delete(tenantId);
    if (awaitedSince.size === 0) return;
    const since = Math.min(...awaitedSince.values());
    places.rest(tenantId, pause(performance.now() - since, undefined, { ref: false }));
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

  /** Prints with nothing else in memory, so that what ends it is the document. */
  const printAlone = async (
    tenantId: string,
    html: string,
    page: PageSetup,
    signal: AbortSignal,
  ): Promise<Buffer> => {
    const since = performance.now();
    const { used } = await currentBrowser(tenantId);
    await Promise.all(used.splice(0).map(isClosed));
    // Another one may have taken over from it meanwhile, which has no used tabs.
    const printBrowser = await currentBrowser(tenantId);
    signal.throwIfAborted();
    const { processesEnded } = printBrowser;
    try {
      return await printOn(printBrowser, tenantId, html, page, signal);
    } catch (error) {
      const isTooLarge = mayBeTriedAgain(error, signal) && printBrowser.processesEnded > processesEnded;
      throw isTooLarge ? documentTooLarge() : error;
    } finally {
      // Others print for as long as they waited, however many documents of this tenant have to be printed alone.
      places.rest(tenantId, pause(performance.now() - since, undefined, { ref: false }));
    }
  };

  /** Documents of a tenant are printed alone one by one, each when others have printed for as long as they waited for the last. */
  const printAloneInTurn = (
    tenantId: string,
    html: string,
    page: PageSetup,
    signal: AbortSignal,
  ): Promise<Buffer> => {
    const former = restsOfAlone.get(tenantId) ?? Promise.resolve();
    const printed = endOrAbort(former, signal).then(() =>
      turns.alone(signal, () => printAlone(tenantId, html, page, signal)),
    );
    const rested = Promise.allSettled([former, printed]).then(() => places.rested(tenantId));
    restsOfAlone.set(tenantId, rested);
    void rested.then(() => {
      if (restsOfAlone.get(tenantId) === rested) restsOfAlone.delete(tenantId);
    });
    return printed;
  };

  const print = async (
    { tenantId }: ShareOwner,
    html: string,
    page: PageSetup,
    signal: AbortSignal,
  ): Promise<Buffer> => {
    const attempt = async () => {
      const printBrowser = await endOrAbort(currentBrowser(tenantId), signal);
      signal.throwIfAborted();
      return printOn(printBrowser, tenantId, html, page, signal);
    };
    try {
      return await turns.beside(signal, attempt).catch((error: unknown) => {
        if (!mayBeTriedAgain(error, signal)) throw error;
        // What ended it may be the memory of other documents, or a browser that crashed over one of them.
        log.warn({ err: error }, 'printing a document failed; will try once more, alone');
        return printAloneInTurn(tenantId, html, page, signal);
      });
    } catch (error) {
      if (error instanceof Problem || signal.aborted) throw error;
      throw documentTooExpensive('The document cannot be printed within the limits.', error);
    }
  };

  const counted: typeof print = async (...document) => {
    try {
      const pdf = await print(...document);
      documents.inc({ result: 'printed' });
      return pdf;
    } catch (error) {
      const isRefused = error instanceof Problem && error.kind === 'invalid';
      documents.inc({ result: document[3].aborted ? 'cancelled' : isRefused ? 'refused' : 'failed' });
      throw error;
    }
  };

  const stopping = new AbortController();
  return {
    inTurn: (owner, signal, work) =>
      places.run(
        owner,
        () => work((html, page) => counted(owner, html, page, signal)),
        AbortSignal.any([signal, stopping.signal]),
      ),
    refuseWaiting: () => stopping.abort(unavailable('The PDF renderer is stopping; try again.')),
    async warm() {
      if (!isStartable) await currentBrowser();
    },
    places,
    async close() {
      for (let next = current; next;) {
        const started = await next.catch(() => undefined);
        if (started) await closeBrowser(started.browser);
        next = started?.successor;
      }
    },
  };
}

/** Whether something else than the document may have ended it. */
const mayBeTriedAgain = (error: unknown, signal: AbortSignal): boolean =>
  !(error instanceof Problem || isTimeout(error) || isRefusedPage(error) || signal.aborted);

/** What Chromium says of margins that leave nothing of a page, and of pages that cannot be. */
const isRefusedPage = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('invalid print parameters');

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
  const index = printBrowser.used.findIndex((tab) => tab.tenantId === tenantId && !tab.isCrashed);
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
  const crashed = new Promise<never>((_, reject) => page.once('error', reject));
  const tab: Tab = { tenantId: undefined, context, page, crashed, isCrashed: false };
  crashed.catch(() => (tab.isCrashed = true));
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
  return tab;
}

const emptyPage = {
  responseCode: 200,
  responseHeaders: [
    { name: 'Content-Type', value: 'text/html; charset=utf-8' },
    { name: 'Content-Security-Policy', value: CONTENT_SECURITY_POLICY },
  ],
  body: Buffer.from('<!doctype html>').toString('base64'),
};

/** A browser that needs longer for an empty page is hanging. */
const TAB_MILLISECONDS_MAX = 10_000;

const browserHangs = () => browserNotStarted(new Error('The browser does not open a page.'));
const printsTooLong = () => documentTooExpensive('Printing the document takes longer than is allowed.');
const documentTooLarge = () =>
  documentTooExpensive('Printing the document takes more memory than is allowed.');
const closeTab = ({ context }: Tab): void => void context.close().catch(() => {});

/**
 * Waits for work until a time is over or a signal comes.
 * @param discard is given what comes too late
 * @throws the problem `late`, the reason of the signal, and what the work throws
 */
async function within<Result>(
  millisecondsMax: number,
  signal: AbortSignal,
  late: () => Problem,
  work: Promise<Result>,
  discard?: (result: Result) => void,
): Promise<Result> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  const timer = setTimeout(() => reject(late()), millisecondsMax);
  try {
    return await Promise.race([work, ended]);
  } catch (error) {
    work.then(discard, () => {});
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

/** Each frame is work for the process that all pages of the browser share. */
const FRAMES_MAX = 10;

/** Writes a document into the page and prints it. */
async function printDocument(
  { page }: Tab,
  html: string,
  setup: PageSetup,
  { millisecondsMax, bytesMax }: PdfOptions,
): Promise<Buffer> {
  const { promise: tooManyFrames, reject } = Promise.withResolvers<never>();
  tooManyFrames.catch(() => {});
  let frames = 0;
  const count = (): void => {
    if (++frames > FRAMES_MAX) reject(documentTooExpensive(`A document has at most ${FRAMES_MAX} frames.`));
  };
  const print = async (): Promise<Buffer> => {
    await page.setContent(html, { waitUntil: 'load', timeout: millisecondsMax });
    const pdf = await page.createPDFStream({ ...printOptionsOf(setup), timeout: millisecondsMax });
    return readUpTo(bytesMax, pdf);
  };
  page.on('frameattached', count);
  try {
    return await Promise.race([print(), tooManyFrames]);
  } finally {
    page.off('frameattached', count);
  }
}

async function readUpTo(bytesMax: number, pdf: ReadableStream<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of pdf) {
    bytes += part.length;
    if (bytes > bytesMax) throw documentTooExpensive(`The PDF has more than ${bytesMax} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** How long a tab may take to stop what it does for a document that was given up. */
const STOP_MILLISECONDS_MAX = 3_000;

/** Closes a tab, which ends its process; false where it goes on computing. */
const isClosed = (tab: Tab): Promise<boolean> =>
  Promise.race([
    tab.context.close().then(
      () => true,
      () => false,
    ),
    pause(STOP_MILLISECONDS_MAX, false, { ref: false }),
  ]);

const CLOSE_MILLISECONDS_MAX = 5_000;

/** Closes a browser, by force when it does not exit by itself. */
async function closeBrowser(browser: Browser): Promise<void> {
  const child = browser.process();
  const force = setTimeout(() => child?.kill('SIGKILL'), CLOSE_MILLISECONDS_MAX);
  await browser.close().catch(() => child?.kill('SIGKILL'));
  clearTimeout(force);
}
