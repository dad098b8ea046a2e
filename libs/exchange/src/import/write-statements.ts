import type { Mode__Output } from '@plinth/proto/generated/plinth/exchange/v1/Mode';
import type { Caller } from '@plinth/kernel/caller';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { hasUnknownId, type ExchangeDefinition, type SystemValue } from '../definition';
import { FORMER_ROW_BYTES } from '../ledger-quota';
import { computed, lookUp } from '../look-up';
import { keyPartsSql } from './key-parts';

/** Which rows an import writes: new ones, existing ones, or both. */
export type ImportMode = Mode__Output;

/** A row as it was written: the row of the file, the id of a row that was there before, and the (sub)transaction. */
export type WriteResult = [importRow: number, updatedId: string | null, transaction: string];

/**
 * A statement that writes rows, and the one before it that stores what they were and returns about how many bytes that
 * takes, where it does not do that itself.
 */
export interface Statement {
  text: string;
  keepFormer?: string | undefined;
}

/** The SQL value of a column that is in no file. */
export const systemSql = (value: SystemValue, column: string, callerId: string): string => {
  switch (value) {
    case 'new-id':
      return '(r->>1)::uuid';
    case 'caller-id':
      return escapeLiteral(callerId);
    case 'now':
      return 'now()';
    case 'one':
      return '1';
    case 'next':
      return `t.${escapeIdentifier(column)} + 1`;
    case 'nothing':
      return 'NULL';
  }
};

const FORMER_BYTES = `pg_column_size(f.former) + ${FORMER_ROW_BYTES}`;

/** About how many bytes the former rows of a job take that have these ids. Its parameters are the tenant, the job and the ids. */
export const SIZE_OF_FORMER = `SELECT coalesce(sum(f.bytes), 0)::float8 AS bytes FROM unnest($3::uuid[]) AS wanted CROSS JOIN
  ${lookUp({
    table: 'exchange_former',
    columns: ['row_id', 'job_id'],
    values: ['wanted', '$2::uuid'],
    select: `pg_column_size(t.former) + ${FORMER_ROW_BYTES} AS bytes`,
  })} AS f`;

/** The statements of one import. Their parameters are the tenant, the rows as JSON, and the job. */
export function writeStatements(
  definition: ExchangeDefinition,
  mapped: readonly string[],
  { mode, caller, storesFormer }: { mode: ImportMode; caller: Caller; storesFormer: boolean },
) {
  const callerId = caller.userId;
  const table = escapeIdentifier(definition.table);
  const columnOf = (property: string) => escapeIdentifier(definition.fields[property]!.column);
  const cell = (property: string) =>
    `(r->>${mapped.indexOf(property) + 2})::${definition.fields[property]!.sqlType}`;
  const keyColumns = definition.key.map(columnOf);
  const changed = mapped.filter((property) => !definition.key.includes(property));

  const inserts = Object.entries({ id: 'new-id' as const, ...definition.onInsert });
  const insertColumns = [
    'tenant_id',
    ...inserts.map(([column]) => escapeIdentifier(column)),
    ...mapped.map(columnOf),
  ];
  const insertValues = [
    '$1::uuid',
    ...inserts.map(([column, value]) => systemSql(value, column, callerId)),
    ...mapped.map(cell),
  ];
  const importColumns = 'import_job_id, import_row';
  const systemUpdates = Object.entries(definition.onUpdate ?? {}).map(
    ([column, value]) => `${escapeIdentifier(column)} = ${systemSql(value, column, callerId)}`,
  );
  const source = 'jsonb_array_elements($2::jsonb) AS r';

  const insert = `INSERT INTO ${table} AS t (${insertColumns.join(', ')}, ${importColumns})
    SELECT ${insertValues.join(', ')}, $3::uuid, (r->>0)::int FROM ${source}`;
  const unlessStored = `ON CONFLICT (tenant_id, ${keyColumns.join(', ')})`;
  const updates = [
    ...changed.map((property) => `${columnOf(property)} = EXCLUDED.${columnOf(property)}`),
    ...systemUpdates,
    'import_job_id = EXCLUDED.import_job_id',
    'import_row = EXCLUDED.import_row',
  ];
  const directUpdates = (properties: readonly string[]) =>
    [
      ...properties.map((property) => `${columnOf(property)} = ${cell(property)}`),
      ...systemUpdates,
      'import_job_id = $3::uuid',
      'import_row = (r->>0)::int',
    ].join(', ');

  const isOfOtherJob = 't.import_job_id IS DISTINCT FROM $3::uuid';
  /** Only rows that the job did not write before are updated. */
  const updatable = storesFormer
    ? `${isOfOtherJob} AND exchange_keep_former(t.tenant_id, t.id, $3::uuid, EXCLUDED.import_row, to_jsonb(t), t.xmin::text)`
    : isOfOtherJob;
  /** Rows that are locked already are found by their place, which stands where new rows have their id. */
  const atPlaces = computed({ r: 'r', place: '(r->>1)::tid' }, source);
  const isWanted = `t.tenant_id = $1::uuid AND t.ctid = wanted.place AND ${isOfOtherJob}`;
  /** Stores rows as they are before they are updated (ADR 0018). */
  const keepFormer = `WITH kept AS (
    INSERT INTO exchange_former AS f (tenant_id, row_id, job_id, import_row, former, former_transaction)
    SELECT t.tenant_id, t.id, $3::uuid, (r->>0)::int, to_jsonb(t), t.xmin::text
    FROM ${atPlaces} AS wanted, ${table} AS t WHERE ${isWanted}
    ON CONFLICT ON CONSTRAINT exchange_former_pkey
    DO UPDATE SET former = EXCLUDED.former, former_transaction = EXCLUDED.former_transaction
    RETURNING ${FORMER_BYTES} AS bytes
  ) SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM kept`;
  const update = (properties: readonly string[]): Statement => ({
    keepFormer: storesFormer ? keepFormer : undefined,
    text: `UPDATE ${table} AS t SET ${directUpdates(properties)} FROM ${atPlaces} AS wanted WHERE ${isWanted}
      RETURNING t.import_row, t.id, t.xmin`,
  });

  const conflict = {
    UPSERT: `DO UPDATE SET ${updates.join(', ')} WHERE ${updatable}
      RETURNING t.import_row, CASE WHEN t.xmax <> 0 THEN t.id END, t.xmin`,
    INSERT: 'DO NOTHING RETURNING t.import_row, NULL, t.xmin',
  };
  const isGone = `${definition.isGone ?? 'false'} AS is_gone`;
  const keyNames = definition.key.map((property) => definition.fields[property]!.column);
  const keyTexts = definition.key.map((property) => `t.${columnOf(property)}`).join(', ');
  /** The key of a row that comes as JSON, from this cell on. */
  const wantedKey = (from: number) =>
    Object.fromEntries(
      definition.key.map((property, index) => [
        `key_${index}`,
        `(r->>${from + index})::${definition.fields[property]!.sqlType}`,
      ]),
    );
  const wantedKeys = computed(wantedKey(0), source);
  const wantedIds = computed({ number: '(r->>0)::int', id: '(r->>1)::uuid', ...wantedKey(2) }, source);
  const keyValues = definition.key.map((_, index) => `wanted.key_${index}`);
  /** Looks for keys, which come as JSON. */
  const findByKey = (select: string, lock?: 'FOR NO KEY UPDATE') =>
    `SELECT found.* FROM ${wantedKeys} AS wanted CROSS JOIN
      ${lookUp({ table: definition.table, columns: keyNames, values: keyValues, select, ...(lock ? { lock } : {}) })} AS found`;
  return {
    /** Inserts rows, and updates those that are stored, or passes over them. */
    write: { text: `${insert} ${unlessStored} ${conflict[mode === 'INSERT' ? 'INSERT' : 'UPSERT']}` },
    /** Fails where one of the rows is stored already; otherwise it takes a quarter less than the one that looks. */
    insertNew: { text: `WITH inserted AS (${insert} RETURNING t.xmin) SELECT xmin FROM inserted LIMIT 1` },
    updateByKey: update(changed),
    updateById: update(mapped),
    findOfJob: `${findByKey(`t.import_job_id, t.import_row, ${keyTexts}`)} WHERE found.import_job_id = $3::uuid`,
    /** Other tables may still refer to rows whose key stays. Rows that are only passed over are not locked. */
    lockByKey: findByKey(
      `t.ctid, t.id, t.import_job_id, t.import_row, ${isGone}, ${keyTexts}`,
      mode === 'INSERT' && definition.isGone === undefined ? undefined : 'FOR NO KEY UPDATE',
    ),
    /** Looks for ids, which come as JSON behind the number of their row and before its key. */
    lockById: `SELECT wanted.number, found.* FROM ${wantedIds} AS wanted CROSS JOIN ${lookUp({
      table: definition.table,
      columns: ['id'],
      values: ['wanted.id'],
      select: `t.ctid, t.id, t.import_job_id, t.import_row, ${hasUnknownId(definition, caller)} AS is_unknown,
        CASE WHEN ROW(${keyTexts}) IS DISTINCT FROM ROW(${keyValues.join(', ')})
          THEN ${keyPartsSql(definition)} END AS former_key`,
      lock: 'FOR UPDATE',
    })} AS found`,
  } satisfies Record<string, Statement | string>;
}
