import { RowQuota } from '@plinth/http/row-quota';
import type { DataExchangeConfig } from '../config';

type Needs = Pick<ConstructorParameters<typeof RowQuota>[0], 'db' | 'log' | 'metrics'> & {
  config: Pick<DataExchangeConfig, 'EXCHANGE_TENANT_KEY_BYTES_MAX'>;
};

/** About what the key of a row takes, in an array of those of its batch. */
export const KEY_BYTES = 24;
/** About what a row with a duplicate key takes, with its entry of the index. */
export const DUPLICATE_BYTES = 160;

const KEYS = `(
  SELECT tenant_id, pg_column_size(row_numbers) + pg_column_size(hashes) AS bytes FROM import_key
  UNION ALL
  SELECT tenant_id, duplicate_rows::bigint * ${DUPLICATE_BYTES} FROM import_job WHERE duplicate_rows > 0
) AS keys`;

/**
 * How many bytes a tenant may have of the keys of files that are imported in several ranges, and of the rows that have the
 * same. They are gone when their jobs end, of which there may be hundreds.
 */
export const keyQuota = ({ config, ...deps }: Needs): RowQuota =>
  new RowQuota({
    ...deps,
    table: KEYS,
    measure: 'sum(bytes)',
    quota: 'exchange-key-bytes',
    what: 'bytes of keys of running imports',
    limit: config.EXCHANGE_TENANT_KEY_BYTES_MAX,
  });
