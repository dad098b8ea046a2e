import type { ImportQuota } from '@plinth/exchange/import/batch-importer';
import { quotaOfBoth } from '@plinth/exchange/import/quota-of-both';
import { bytesOfColumns, bytesOfLongTexts, longTextBytes } from '@plinth/http/long-texts';
import { RowQuota, type RowQuotaDeps } from '@plinth/http/row-quota';
import type { SettingsConfig } from '../config';
import { importedSetting } from '../domain/imported-setting';

/** How many changes of settings a tenant may have that came by imports, and how many bytes in long values. */
export interface ChangeQuota extends ImportQuota {
  /** Takes room for a value that is set; the transaction gives it back where it fails. @throws Problem `quota-exceeded` */
  take(tenantId: string, value: string): void;
}

type Needs = Pick<RowQuotaDeps, 'db' | 'log' | 'metrics'> & {
  config: Pick<SettingsConfig, 'SETTINGS_TENANT_CHANGES_MAX' | 'SETTINGS_TENANT_LONG_VALUE_BYTES_MAX'>;
};

const longIn = (table: string, ...columns: readonly string[]): string =>
  `SELECT tenant_id, ${bytesOfColumns(...columns)} AS bytes FROM ${table} WHERE ${bytesOfLongTexts(...columns).where}`;

/**
 * The history has no secrets, so that values are counted too. They have no index for that, which would be written at each
 * update of a short one.
 */
const LONG_VALUES = `(
  ${longIn('setting_value', 'value')}
  UNION ALL ${longIn('setting_change', "coalesce(previous_value, '')", "coalesce(new_value, '')")}
) AS long_value`;

/** About as much as one request brings, and more than one batch of an import. */
const BYTES_OF_REQUEST = 2_000_000;
const BYTES_OF_BATCHES = 16_000_000;

/** A value takes its bytes and those of its predecessor in the history, and the place of that: twice its own together. */
const roomOf = (value: string): number => 2 * longTextBytes(value);

export function changeQuota({ config, ...deps }: Needs): ChangeQuota {
  const changes = new RowQuota({
    ...deps,
    table: 'setting_change',
    quota: 'settings-history',
    what: 'changes of settings',
    limit: config.SETTINGS_TENANT_CHANGES_MAX,
  });
  const longValues = new RowQuota({
    ...deps,
    table: LONG_VALUES,
    measure: 'sum(bytes)',
    quota: 'settings-long-value-bytes',
    what: 'bytes in long values of settings and their histories',
    limit: config.SETTINGS_TENANT_LONG_VALUE_BYTES_MAX,
    uncountedMin: BYTES_OF_REQUEST,
  });
  return {
    take(tenantId, value) {
      const bytes = roomOf(value);
      if (bytes > 0) longValues.take(tenantId, bytes);
    },
    updatesTakeRoom: true,
    forImport: (attempt) =>
      quotaOfBoth(attempt, changes, {
        quota: longValues,
        sizeOfBatches: BYTES_OF_BATCHES,
        sizeOf: (row) => roomOf(importedSetting(row).value),
      }),
  };
}
