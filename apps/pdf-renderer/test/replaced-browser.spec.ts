/** @alone it stops the clock */
import { silentLog } from '@plinth/runtime/process/log';
import { createMetrics } from '@plinth/runtime/process/health';
import type { Chromium } from '../src/print/chromium';
import { pdfPrinter } from '../src/print/pdf-printer';

/** Browsers whose documents end when the test says so. */
function browsersOf(ends: Map<string, PromiseWithResolvers<void>>): Chromium {
  const page = {
    once: () => undefined,
    on: () => undefined,
    off: () => undefined,
    url: () => 'http://document.invalid/',
    setJavaScriptEnabled: () => Promise.resolve(),
    createCDPSession: () => Promise.resolve({ send: () => Promise.resolve(), on: () => undefined }),
    goto: () => Promise.resolve(),
    setContent: (html: string) => ends.get(html)?.promise ?? Promise.resolve(),
    createPDFStream: () => Promise.resolve(new ReadableStream({ start: (stream) => stream.close() })),
  };
  const context = { newPage: () => Promise.resolve(page), close: () => Promise.resolve() };
  const launch = () =>
    Promise.resolve({
      once: () => undefined,
      createBrowserContext: () => Promise.resolve(context),
      close: () => Promise.resolve(),
      process: () => null,
    } as never);
  return { isolation: 'sealed', launch };
}

it('a tenant rests for as long as another waited for its last document of a browser that is replaced', async () => {
  jest.useFakeTimers();
  const ends = new Map([['long', Promise.withResolvers<void>()]]);
  const limits = { millisecondsMax: 60_000, bytesMax: 1_000, megabytesMax: 1_000 };
  const options = { pages: 3, queueMax: 9, documentsPerBrowser: 2, ...limits };
  const printer = pdfPrinter(() => browsersOf(ends), options, silentLog(), createMetrics('pdf-renderer'));
  const printed: string[] = [];
  const print = (tenantId: string, html: string) =>
    printer
      .inTurn({ tenantId, userId: 'one' }, new AbortController().signal, (print) => print(html, {}))
      .then(() => printed.push(html));

  const long = print('ada', 'long');
  await print('bob', 'short');
  const waiting = print('bob', 'kept waiting');
  await jest.advanceTimersByTimeAsync(5_000);
  expect(printed).toEqual(['short']);
  ends.get('long')!.resolve();
  await long;
  await waiting;

  const again = print('ada', 'again');
  await jest.advanceTimersByTimeAsync(4_900);
  expect(printed).toEqual(['short', 'long', 'kept waiting']);
  await jest.advanceTimersByTimeAsync(200);
  await again;
  expect(printed).toEqual(['short', 'long', 'kept waiting', 'again']);
  await printer.close();
});
