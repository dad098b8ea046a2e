import { undoEnvironment } from '@plinth/exchange/import-retention';
import { ledgerEnvironment } from '@plinth/exchange/ledger-quota';
import { databaseUrl, positiveInteger, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

export const LocalizationConfig = z
  .object({
    ...serviceEnvironment,
    ...undoEnvironment,
    ...ledgerEnvironment,
    DATABASE_URL_LOCALIZATION: databaseUrl().optional(),
    OVERRIDE_STORE: z
      .enum(['postgres', 'none'])
      .default('postgres')
      .describe(
        "Where tenants' overrides of texts are stored. `none`: nowhere; their endpoints respond 501, and neither a database nor NATS is needed.",
      ),
    LOCALIZATION_TENANT_OVERRIDES_MAX: positiveInteger(10_000_000).describe(
      'Texts of its own that a tenant may have, in all languages together.',
    ),
    LOCALIZATION_TENANT_LONG_TEXT_BYTES_MAX: positiveInteger(10 * 1024 ** 3).describe(
      'Bytes of those of these texts that have more than 1,024 each, with their resource and key; the others are bounded by their number alone.',
    ),
  })
  .refine((config) => config.OVERRIDE_STORE === 'none' || config.DATABASE_URL_LOCALIZATION !== undefined, {
    path: ['DATABASE_URL_LOCALIZATION'],
    message: 'is required, because overrides are stored in Postgres',
  });

export type LocalizationConfig = z.output<typeof LocalizationConfig>;
