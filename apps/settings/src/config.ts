import { undoEnvironment } from '@plinth/exchange/import-retention';
import { ledgerEnvironment } from '@plinth/exchange/ledger-quota';
import { databaseUrl, keys, positiveInteger, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

export const SettingsConfig = z.object({
  ...serviceEnvironment,
  ...undoEnvironment,
  ...ledgerEnvironment,
  DATABASE_URL_SETTINGS: databaseUrl(),
  SETTINGS_ENCRYPTION_KEYS: keys().describe(
    'Secrets that encrypt secret values at rest, comma-separated; the first one encrypts.',
  ),
  SETTINGS_VALUES: z
    .string()
    .default('{}')
    .transform((json) => z.record(z.string(), z.string()).parse(JSON.parse(json)))
    .describe('The Config level of the cascade: JSON object from setting name to value.'),
  SETTINGS_TENANT_CHANGES_MAX: positiveInteger(10_000_000).describe(
    'Changes in the histories of all settings of a tenant, beyond which an import removes the oldest ones.',
  ),
  SETTINGS_TENANT_VALUES_MAX: positiveInteger(10_000_000).describe(
    'Values of all settings and users of a tenant, beyond which an import adds no more.',
  ),
  SETTINGS_TENANT_LONG_VALUE_BYTES_MAX: positiveInteger(10 * 1024 ** 3).describe(
    'Bytes of the values of a tenant with more than 1,024 each; the others are bounded by their number alone.',
  ),
});

export type SettingsConfig = z.output<typeof SettingsConfig>;
