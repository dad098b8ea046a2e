import { databaseUrl, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

const positive = (byDefault: number) => z.coerce.number().int().min(1).default(byDefault);

export const TemplateConfig = z.object({
  ...serviceEnvironment,
  DATABASE_URL_TEMPLATE: databaseUrl(),
  PUPPETEER_EXECUTABLE_PATH: z
    .string()
    .optional()
    .describe('Chromium, which prints PDF; the usual paths are looked at where it is not set.'),
  RENDER_PROCESSES: positive(3).describe('Processes that evaluate templates at the same time.'),
  RENDER_QUEUE_MAX: positive(200).describe('Renderings that may wait; more are refused with 503.'),
  RENDER_MILLISECONDS_MAX: positive(700).describe(
    'Longest time of one evaluation on the processor; the process of one that takes longer is killed.',
  ),
  RENDER_MEMORY_MEGABYTES_MAX: positive(192).describe('Heap of one process that evaluates templates.'),
  RENDER_SANDBOX_PROGRAM: z
    .string()
    .optional()
    .describe(
      'Compiled program of the evaluating processes; the one beside the service where it is not set.',
    ),
  PDF_PAGES: positive(2).describe('Documents printed at the same time.'),
  PDF_QUEUE_MAX: positive(50).describe('Documents that may wait to be printed; more are refused with 503.'),
  PDF_DOCUMENTS_PER_BROWSER: positive(200).describe('Documents after which the browser is replaced.'),
  PDF_MILLISECONDS_MAX: positive(15_000).describe('Longest time of printing one document.'),
});

export type TemplateConfig = z.output<typeof TemplateConfig>;
