import { RowQuota } from '@plinth/http/row-quota';
import type { DataExchangeConfig } from '../config';

type Needs = Pick<ConstructorParameters<typeof RowQuota>[0], 'db' | 'log' | 'metrics'> & {
  config: Pick<DataExchangeConfig, 'EXCHANGE_TENANT_KEPT_BYTES_MAX'>;
};

/** Workers write most of it, of which the processes that take files and start jobs are not told. */
const COUNTED_MILLISECONDS_MAX = 5 * 60_000;

/** Until the rows of an import and the file of an export are removed; then what remains of a job is small. */
const KEPT = `(
  SELECT tenant_id, failed_bytes + pg_column_size(format) + coalesce(pg_column_size(headers), 0)
    + coalesce(pg_column_size(mappings), 0) + coalesce(pg_column_size(caller), 0) AS bytes
  FROM import_job WHERE rows_removed_at IS NULL
  UNION ALL
  SELECT tenant_id, pg_column_size(request) + pg_column_size(caller) FROM export_job WHERE file_removed_at IS NULL
) AS kept`;

/**
 * How many bytes of jobs a tenant may have in the database: the rows that failed, how files are read and mapped, and what
 * is exported. A file of two bytes in each row leaves a hundred times as much.
 */
export const keptQuota = ({ config, ...deps }: Needs): RowQuota =>
  new RowQuota({
    ...deps,
    table: KEPT,
    measure: 'sum(bytes)',
    quota: 'exchange-kept-bytes',
    what: 'bytes of failed rows, mappings and selections',
    countedMillisecondsMax: COUNTED_MILLISECONDS_MAX,
    limit: config.EXCHANGE_TENANT_KEPT_BYTES_MAX,
  });

/** The room that a part of a job takes, about. */
export const keptBytesOf = (part: unknown): number => JSON.stringify(part).length;
