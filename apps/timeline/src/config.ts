import { databaseUrl, serviceEnvironment } from '@plinth/runtime/config';
import { z } from 'zod';

export const TimelineConfig = z.object({
  ...serviceEnvironment,
  DATABASE_URL_TIMELINE: databaseUrl(),
  BLOB_URL: z.string().default('file:///var/lib/plinth/blobs').describe('Where attached files are kept.'),
  BLOB_BYTES_MAX: z.coerce
    .number()
    .int()
    .positive()
    .default(25 * 1024 * 1024)
    .describe('Largest file that can be attached.'),
});

export type TimelineConfig = z.output<typeof TimelineConfig>;
