import { escapeIdentifier, type PoolClient } from 'pg';

/** Rows that are looked for one by one. */
export interface LookUp {
  table: string;
  /** Columns of an index whose first column is `tenant_id`, in their order. */
  columns: readonly string[];
  /** Columns of the row that it is joined to; see `computed`. */
  values: readonly string[];
  /** What is returned of the row `t`, as SQL. */
  select: string;
  /** How many rows may be found; one unless given. */
  limit?: number | 'ALL';
  /** Of several rows, only that with the largest value of this column, which comes next in the index. */
  lastBy?: string;
  /** Locks what is found. */
  lock?: 'FOR UPDATE' | 'FOR UPDATE SKIP LOCKED' | 'FOR NO KEY UPDATE' | 'FOR KEY SHARE';
}

/**
 * A sub-query that finds rows of the tenant `$1` by an index, to be joined laterally and run by `inIndexOrder`.
 *
 * An equation alone does not decide which index is read: statistics that do not know a tenant yet let Postgres expect
 * one row of it by any index that begins with the tenant, and it would read all rows of the tenant for each one that is
 * looked for. Only the right index returns rows in the order that is asked for here.
 */
export function lookUp({ table, columns, values, select, limit = 1, lastBy, lock }: LookUp): string {
  const names = columns.map((column) => `t.${escapeIdentifier(column)}`);
  const found = names.join(', ');
  const order = lastBy
    ? [...names, `t.${escapeIdentifier(lastBy)}`].map((name) => `${name} DESC`).join(', ')
    : found;
  const wanted = `ROW(${values.join(', ')})`;
  return `LATERAL (
    SELECT ${select} FROM ${escapeIdentifier(table)} AS t
    WHERE t.tenant_id = $1::uuid AND ROW(${found}) >= ${wanted} AND ROW(${found}) <= ${wanted}
    ORDER BY ${order} LIMIT ${limit} ${lock ?? ''})`;
}

/**
 * A sub-query that computes columns once. Row-level security lets no expression that may fail reach an index, because
 * its error could show a row of another tenant; a column that was computed before may.
 */
export const computed = (columns: Readonly<Record<string, string>>, source: string): string =>
  `(SELECT ${Object.entries(columns)
    .map(([name, value]) => `${value} AS ${name}`)
    .join(', ')} FROM ${source} OFFSET 0)`;

const IN_INDEX_ORDER = ['enable_sort', 'enable_incremental_sort'];

/** Runs a statement with look-ups: an index whose order must be sorted first is out of the question. */
export const inIndexOrder = <Result>(connection: PoolClient, run: () => Promise<Result>): Promise<Result> =>
  without(IN_INDEX_ORDER, connection, run);

const BY_PLACE = [
  'enable_seqscan',
  'enable_indexscan',
  'enable_indexonlyscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
];

/**
 * Runs a statement that names rows by their place in the table (`ctid`), which a look-up with a lock has returned.
 * Reading rows by their place is then the only way to find them.
 */
export const byPlace = <Result>(connection: PoolClient, run: () => Promise<Result>): Promise<Result> =>
  without(BY_PLACE, connection, run);

/** Locks rows by their ids and returns where each of them is. */
export async function lockPlaces(
  connection: PoolClient,
  tenantId: string,
  table: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const row = lookUp({
    table,
    columns: ['id'],
    values: ['wanted'],
    select: 't.id, t.ctid AS place',
    lock: 'FOR UPDATE',
  });
  const { rows } = await inIndexOrder(connection, () =>
    connection.query<{ id: string; place: string }>(
      `SELECT found.* FROM unnest($2::uuid[]) AS wanted CROSS JOIN ${row} AS found`,
      [tenantId, ids.toSorted()],
    ),
  );
  return new Map(rows.map(({ id, place }) => [id, place]));
}

/** Where the statement fails, the settings end with its savepoint or its transaction. */
async function without<Result>(
  settings: readonly string[],
  connection: PoolClient,
  run: () => Promise<Result>,
): Promise<Result> {
  const set = (value: string) => settings.map((setting) => `SET LOCAL ${setting} TO ${value};`).join(' ');
  await connection.query(set('off'));
  const result = await run();
  await connection.query(set('DEFAULT'));
  return result;
}
