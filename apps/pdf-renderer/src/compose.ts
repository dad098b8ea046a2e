import { measurePlaces } from '@plinth/runtime/process/fair-places';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { PdfRendererConfig } from './config';
import { findChromium } from './print/chromium';
import { pdfPrinter } from './print/pdf-printer';

export type Deps = ReturnType<typeof compose>;

/** Wires the real parts; what it opens is closed in reverse order. */
export function compose(config: PdfRendererConfig, log: Log, onClose: (close: Close) => void) {
  const metrics = createMetrics('pdf-renderer');
  const options = {
    executable: config.PUPPETEER_EXECUTABLE_PATH,
    isProduction: config.NODE_ENV === 'production',
  };
  const printer = pdfPrinter(
    () => findChromium(options, log),
    {
      pages: config.PDF_PAGES,
      queueMax: config.PDF_QUEUE_MAX,
      documentsPerBrowser: config.PDF_DOCUMENTS_PER_BROWSER,
      millisecondsMax: config.PDF_MILLISECONDS_MAX,
      bytesMax: config.PDF_BYTES_MAX,
      megabytesMax: config.PDF_MEMORY_MEGABYTES_MAX,
    },
    log,
    metrics,
  );
  onClose(printer.close);
  measurePlaces(metrics, { pdf: printer.places });
  // The browser starts with the first look at the health, so that the first document does not wait for it; later looks start
  // none unless it crashed, hung or did not start.
  const health = new Health({ chromium: printer.warm }, { log });
  return { config, log, metrics, health, printer };
}
