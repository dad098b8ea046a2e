import { undoEnvironment } from '@plinth/exchange/import-retention';
import { ledgerEnvironment } from '@plinth/exchange/ledger-quota';
import { databaseUrl, keys, positiveInteger, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

export const TemplateConfig = z.object({
  ...serviceEnvironment,
  ...undoEnvironment,
  ...ledgerEnvironment,
  DATABASE_URL_TEMPLATE: databaseUrl(),
  RENDER_PROCESSES: positiveInteger(3).describe(
    'Processes that evaluate templates at the same time; a tenant uses at most as many as are free.',
  ),
  RENDER_QUEUE_MAX: positiveInteger(200).describe('Renderings that may wait; more are refused.'),
  RENDER_BYTES_MAX: positiveInteger(64 * 1024 * 1024).describe(
    'Bytes of templates that wait to be evaluated and of documents that wait to be printed.',
  ),
  RENDER_BATCHES: positiveInteger(4).describe(
    'Batches rendered at the same time, each with its results in memory.',
  ),
  RENDER_MILLISECONDS_MAX: positiveInteger(700).describe(
    'Longest time of one evaluation on the processor; the process of one that takes longer is killed.',
  ),
  RENDER_MEMORY_MEGABYTES_MAX: positiveInteger(192).describe('Heap of one process that evaluates templates.'),
  RENDER_SANDBOX_PROGRAM: z
    .string()
    .optional()
    .describe(
      'Compiled program of the evaluating processes; the one beside the service where it is not set.',
    ),
  TEMPLATE_TENANT_REVISIONS_MAX: positiveInteger(1_000_000).describe(
    'Revisions that the templates of a tenant may have together, deleted templates included.',
  ),
  TEMPLATE_TENANT_CHARACTERS_MAX: positiveInteger(10_000_000_000).describe(
    'Characters that the revisions of the templates of a tenant may have together.',
  ),
  PDF_RENDERER_KEYS: keys().describe(
    'Secrets that sign callers for the PDF renderer and nobody else, comma-separated; the first one signs.',
  ),
  PDF_BYTES_MAX: positiveInteger(32 * 1024 * 1024).describe('Largest PDF.'),
});

export type TemplateConfig = z.output<typeof TemplateConfig>;
