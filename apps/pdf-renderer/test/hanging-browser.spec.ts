/** @alone it stops the clock */
import { silentLog } from '@plinth/runtime/process/log';
import { createMetrics } from '@plinth/runtime/process/health';
import type { Chromium } from '../src/print/chromium';
import { pdfPrinter } from '../src/print/pdf-printer';

/** A browser that started and answers nothing any more. */
const hanging = (): Chromium => ({
  isolation: 'sealed',
  launch: () =>
    Promise.resolve({
      once: () => undefined,
      createBrowserContext: () => new Promise(() => undefined),
      close: () => Promise.resolve(),
      process: () => null,
    } as never),
});

it('a browser that hangs holds a document for ten seconds only, is replaced, and is no fault of the document', async () => {
  jest.useFakeTimers();
  const metrics = createMetrics('pdf-renderer');
  const limits = { millisecondsMax: 1_000, bytesMax: 1_000, megabytesMax: 1_000 };
  const options = { pages: 1, queueMax: 1, documentsPerBrowser: 9, ...limits };
  const printer = pdfPrinter(hanging, options, silentLog(), metrics);
  const ada = { tenantId: 'acme', userId: 'ada' };
  const printed = printer.inTurn(ada, new AbortController().signal, (print) => print('<p>x</p>', {}));
  const refused = expect(printed).rejects.toMatchObject({ kind: 'overloaded', slug: 'renderer-busy' });

  await jest.advanceTimersByTimeAsync(10_000);

  await refused;
  expect(printer.places.runningCount).toBe(0);
  await printer.warm();
  const { values } = await metrics.getSingleMetric('plinth_pdf_browsers_total')!.get();
  expect(values[0]!.value).toBe(2);
});
