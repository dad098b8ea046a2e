import type { ImportQuota } from '@plinth/exchange/import/batch-importer';
import { jointQuota, unneededIfUnwritten } from '@plinth/exchange/import/joint-quota';
import { bytesOfLongTexts, longTextBytes } from '@plinth/http/long-texts';
import { RowQuota, type RowQuotaDeps } from '@plinth/http/row-quota';
import type { SettingsConfig } from '../config';
import { importedSetting } from '../domain/imported-setting';
import { removeOldestChanges } from './setting-changes';

/** How many changes and values of settings a tenant may have for its imports, and how many bytes in long values. */
export interface ChangeQuota extends ImportQuota {
  /**
   * Takes room for what a value is longer than the former one, both as they are stored; the transaction gives it back where
   * it fails. @throws Problem `quota-exceeded`
   */
  take(tenantId: string, value: string, former: string | null): void;
}

type Needs = Pick<RowQuotaDeps, 'db' | 'log' | 'metrics'> & {
  config: Pick<
    SettingsConfig,
    'SETTINGS_TENANT_CHANGES_MAX' | 'SETTINGS_TENANT_VALUES_MAX' | 'SETTINGS_TENANT_LONG_VALUE_BYTES_MAX'
  >;
};

/** About as much as one request brings, and more than one batch of an import. */
const BYTES_OF_REQUEST = 1_000_000;
const BYTES_OF_BATCHES = 8_000_000;

export function changeQuota({ config, ...deps }: Needs): ChangeQuota {
  const changes = new RowQuota({
    ...deps,
    table: 'setting_change',
    quota: 'settings-history',
    what: 'changes of settings',
    limit: config.SETTINGS_TENANT_CHANGES_MAX,
    makeRoom: (tenantId, rows) => removeOldestChanges(deps.db, tenantId, rows),
  });
  // The users of a file may be made up.
  const values = new RowQuota({
    ...deps,
    table: 'setting_value',
    quota: 'settings-values',
    what: 'values of settings',
    limit: config.SETTINGS_TENANT_VALUES_MAX,
  });
  const longValues = new RowQuota({
    ...deps,
    table: 'setting_value',
    // They have no index, which would be written at each update of a short one.
    ...bytesOfLongTexts('value'),
    quota: 'settings-long-value-bytes',
    what: 'bytes in long values of settings',
    limit: config.SETTINGS_TENANT_LONG_VALUE_BYTES_MAX,
    uncountedMin: BYTES_OF_REQUEST,
  });
  return {
    take(tenantId, value, former) {
      const grownBytes = longTextBytes(value) - longTextBytes(former);
      if (grownBytes > 0) longValues.take(tenantId, grownBytes);
    },
    forImport: (attempt) =>
      jointQuota(attempt, [
        { quota: values },
        {
          quota: longValues,
          unitsOfBatches: BYTES_OF_BATCHES,
          unitsOf: (row) => longTextBytes(importedSetting(row).value),
          // Of what an update takes too much the next count learns.
          unneededOf: unneededIfUnwritten,
        },
        // The last one, so that none are removed for rows that the others refuse.
        { quota: changes, unneededOf: unneededIfUnwritten },
      ]),
  };
}
