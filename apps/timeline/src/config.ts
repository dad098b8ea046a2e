import { databaseUrl, flag, positiveInteger, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

export const TimelineConfig = z.object({
  ...serviceEnvironment,
  DATABASE_URL_TIMELINE: databaseUrl(),
  BLOB_URL: z.string().default('file:///var/lib/plinth/blobs').describe('Where attached files are kept.'),
  BLOB_BYTES_MAX: positiveInteger(25 * 1024 * 1024).describe('Largest file that can be attached.'),
  BLOB_TENANT_BYTES_MAX: positiveInteger(10 * 1024 ** 3).describe(
    'Bytes of attached files that a tenant may have stored.',
  ),
  TIMELINE_TENANT_ENTRIES_MAX: positiveInteger(10_000_000).describe(
    'Timeline entries that a tenant may have; what the system records is not refused.',
  ),
  TIMELINE_TENANT_LONG_ENTRY_BYTES_MAX: positiveInteger(20 * 1024 ** 3).describe(
    'Bytes that the entries of a tenant with more than 1,024 each may have together, with type and id of the entity, which count 5 times, as often as they are stored; shorter ones are bounded by their number alone.',
  ),
  TIMELINE_TENANT_FOLLOWERS_MAX: positiveInteger(10_000_000).describe(
    'Followers that the entities of a tenant may have together.',
  ),
  TIMELINE_TENANT_PEOPLE_MAX: positiveInteger(100_000).describe(
    'People whom the directory of a tenant knows; beyond it nobody new is suggested or named by id, or notified as one of many whom only mentions made follow.',
  ),
  TIMELINE_TENANT_NOTIFICATIONS_MAX: positiveInteger(10_000_000).describe(
    'Notifications that the users of a tenant may have together; beyond it whom the directory knows, or who follows not only by a mention, is notified in exchange for their oldest one, and nobody else.',
  ),
  TIMELINE_SHARED_ENTRIES: flag(true).describe(
    'Whether what the system says of many entities at once is stored once; `false` while a version runs that does not read it.',
  ),
  BLOB_UNATTACHED_HOURS: z.coerce
    .number()
    .positive()
    .default(24)
    .describe('How long an uploaded file waits to be attached before it is removed.'),
  BLOB_INTERRUPTED_HOURS: z.coerce
    .number()
    .min(1)
    .default(24)
    .describe(
      'How long what a crash left of a file is kept; longer than an upload takes, since one that runs looks the same.',
    ),
});

export type TimelineConfig = z.output<typeof TimelineConfig>;
