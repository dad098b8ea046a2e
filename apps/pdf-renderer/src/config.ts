import { keys, port, positiveInteger, processEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

// Traces would need a connection to the outside.
const { OTEL_EXPORTER_OTLP_ENDPOINT: _, ...environment } = processEnvironment;

export const PdfRendererConfig = z.object({
  ...environment,
  GRPC_PORT: port(9090).describe('Port for gRPC calls of the template service.'),
  PDF_RENDERER_KEYS: keys().describe(
    'Secrets that sign callers for the PDF renderer and nobody else, comma-separated; every one is accepted.',
  ),
  PUPPETEER_EXECUTABLE_PATH: z
    .string()
    .optional()
    .describe('Chromium, which prints PDF; the usual paths are looked at where it is not set.'),
  PDF_PAGES: positiveInteger(3).describe(
    'Documents printed at the same time; a tenant prints at most as many as places are free.',
  ),
  PDF_QUEUE_MAX: positiveInteger(100).describe('Documents that may wait to be printed; more are refused.'),
  PDF_DOCUMENTS_PER_BROWSER: positiveInteger(200).describe('Documents after which the browser is replaced.'),
  PDF_MILLISECONDS_MAX: positiveInteger(15_000).describe('Longest time of printing one document.'),
  PDF_MEMORY_MEGABYTES_MAX: positiveInteger(768).describe(
    'Memory of the browser with all its pages; beyond it the process of the largest page is ended, and its document is printed once more, alone.',
  ),
  PDF_HTML_BYTES_MAX: positiveInteger(48 * 1024 * 1024).describe(
    'Largest document that is printed, as HTML.',
  ),
  PDF_BYTES_MAX: positiveInteger(32 * 1024 * 1024).describe('Largest PDF.'),
});

export type PdfRendererConfig = z.output<typeof PdfRendererConfig>;
