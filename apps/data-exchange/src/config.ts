import { undoEnvironment } from '@plinth/exchange/import-retention';
import {
  databaseUrl,
  positiveInteger,
  serviceEnvironment,
  temporalEnvironment,
} from '@plinth/runtime/process/config';
import { z } from 'zod';

export const DataExchangeConfig = z.object({
  ...serviceEnvironment,
  ...undoEnvironment,
  DATABASE_URL_DATA_EXCHANGE: databaseUrl(),
  ...temporalEnvironment,
  EXCHANGE_TASK_QUEUE: z
    .string()
    .default('data-exchange')
    .describe('Task queue of imports and exports in Temporal.'),
  BLOB_URL: z.url().describe('Where files are stored: `file:///folder` or `s3://bucket`.'),
  EXCHANGE_UPLOAD_BYTES_MAX: positiveInteger(2 * 1024 ** 3).describe('Largest file that can be uploaded.'),
  EXCHANGE_SCRATCH_BYTES_MAX: positiveInteger(18 * 1024 ** 3).describe(
    'Bytes of the temporary files in which a process has the workbooks that it reads, each with its texts unpacked; of these a tenant has at most two thirds.',
  ),
  EXCHANGE_RANGE_BYTES: positiveInteger(4 * 1024 ** 2).describe(
    'Larger text files are imported in ranges of about this size, so that jobs alternate and workers share them.',
  ),
  EXCHANGE_EXPORT_DAYS: z.coerce
    .number()
    .positive()
    .default(7)
    .describe('How long the file of an export can be downloaded.'),
  EXCHANGE_UPLOAD_DAYS: z.coerce
    .number()
    .positive()
    .default(7)
    .describe('How long an upload waits to be executed before it is cancelled and its file removed.'),
  EXCHANGE_TENANT_BYTES_MAX: positiveInteger(20 * 1024 ** 3).describe(
    'Bytes of uploads and exported files that a tenant may have stored at the same time.',
  ),
  EXCHANGE_TENANT_KEPT_BYTES_MAX: positiveInteger(20 * 1024 ** 3).describe(
    'Bytes of failed rows, mappings and selections of jobs that a tenant may have in the database.',
  ),
  EXCHANGE_TENANT_KEY_BYTES_MAX: positiveInteger(20 * 1024 ** 3).describe(
    'Bytes of keys that a tenant may have in the database while its large files are imported.',
  ),
  EXCHANGE_TENANT_JOBS_MAX: positiveInteger(500).describe(
    'Unfinished imports, exports and undos of imports that a tenant may have.',
  ),
  EXCHANGE_DRY_RUNS_MAX: positiveInteger(4).describe(
    'Dry-runs at the same time, each with a transaction of the data owner; a tenant has at most as many as are free.',
  ),
  EXCHANGE_PREVIEWS_MAX: positiveInteger(4).describe('Previews and corrections of formats at the same time.'),
  EXCHANGE_REPORT_DAYS: z.coerce
    .number()
    .positive()
    .default(30)
    .describe('How long the failed rows of an import, and the rows that an undo kept, can be read.'),
  EXCHANGE_JOB_DAYS: z.coerce
    .number()
    .positive()
    .default(365)
    .describe('How long after it was made an ended job is listed and can be read; what it changed stays.'),
  EXCHANGE_ENDED_FILE_HOURS: z.coerce
    .number()
    .min(1)
    .default(1)
    .describe(
      'How long after the end of a job its file is removed where that failed at the end; until then a run may still read it.',
    ),
  EXCHANGE_INTERRUPTED_FILE_HOURS: z.coerce
    .number()
    .min(1)
    .default(24)
    .describe('How long what a crash left of a file is kept.'),
  EXCHANGE_SWEEP_SECONDS: z.coerce
    .number()
    .positive()
    .default(5)
    .describe(
      'How often jobs are started again whose start failed; every fifth time those that a process lost that died, every twelfth time expired files and rows are deleted.',
    ),
});

export type DataExchangeConfig = z.output<typeof DataExchangeConfig>;
