import { undoEnvironment } from '@plinth/exchange/import-retention';
import { databaseUrl, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

const positive = (byDefault: number) => z.coerce.number().int().min(1).default(byDefault);

export const TemplateConfig = z.object({
  ...serviceEnvironment,
  ...undoEnvironment,
  DATABASE_URL_TEMPLATE: databaseUrl(),
  PUPPETEER_EXECUTABLE_PATH: z
    .string()
    .optional()
    .describe('Chromium, which prints PDF; the usual paths are looked at where it is not set.'),
  RENDER_PROCESSES: positive(3).describe(
    'Processes that evaluate templates at the same time; a tenant uses at most as many as are free.',
  ),
  RENDER_QUEUE_MAX: positive(200).describe('Renderings that may wait; more are refused.'),
  RENDER_BATCHES: positive(4).describe('Batches rendered at the same time, each with its results in memory.'),
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
  PDF_PAGES: positive(3).describe(
    'Documents printed at the same time; a tenant prints at most as many as places are free.',
  ),
  PDF_QUEUE_MAX: positive(100).describe('Documents that may wait to be printed; more are refused.'),
  PDF_DOCUMENTS_PER_BROWSER: positive(200).describe('Documents after which the browser is replaced.'),
  PDF_MILLISECONDS_MAX: positive(15_000).describe('Longest time of printing one document.'),
});

export type TemplateConfig = z.output<typeof TemplateConfig>;
