import type { Caller } from '@plinth/kernel/caller';
import { escapeLike } from '@plinth/kernel/like-pattern';
import { parseSelection, type Filter, type Selection, type SelectionText } from '@plinth/kernel/list-query';
import { invalid, Problem } from '@plinth/kernel/problem';
import { likeIgnoringCase } from '@plinth/runtime/postgres/ignoring-case';
import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import { escapeIdentifier, escapeLiteral } from 'pg';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { to as copyTo } from 'pg-copy-streams';
import { listRulesOf, type ExchangeDefinition } from '../definition';
import { relatedKey, relationJoins } from '../relation';
import { LINE_FEED } from './copy-text';
import { WorkLimit } from './work-limit';

/** The statement lasts until its last row is read, however slowly, and ends soon after its connection. */
const EXPORT_LIMITS = `SET LOCAL statement_timeout = '6h'; SET LOCAL client_connection_check_interval = '1s'`;

/** How long Postgres may work on one export: an hour of a processor is a share that others miss. */
const WORK_MILLISECONDS_MAX = 30 * 60_000;

/** What is exported, and for which caller. */
export interface ExportOptions {
  definition: ExchangeDefinition;
  fields: readonly string[];
  includeId: boolean;
  selection: SelectionText;
  caller: Caller;
}

/**
 * Streams the selected rows in pieces, all as they were when it began. A piece is whole lines of the text format of
 * `COPY`: Postgres writes it and no process parses it on the way, which makes an export fast. When `signal` aborts, the
 * connection is closed and the statement ends.
 * @param workMillisecondsMax how long Postgres may work; how slowly `send` takes the rows does not count
 * @throws Problem `too-large` where that takes longer, or more of the disk than it may
 */
export async function streamExport(
  pool: FairPool,
  options: ExportOptions,
  send: (lines: Buffer) => Promise<void>,
  signal: AbortSignal,
  workMillisecondsMax = WORK_MILLISECONDS_MAX,
): Promise<void> {
  const query = exportQuery(options);
  await inTenantConnection(
    pool,
    options.caller.tenantId,
    async (connection) => {
      await connection.query(EXPORT_LIMITS);
      signal.throwIfAborted();
      const copied = connection.query(copyTo(`COPY (${query}) TO STDOUT`));
      const close = () => void connection.end();
      const work = new WorkLimit(workMillisecondsMax, close);
      signal.addEventListener('abort', close, { once: true });
      try {
        for await (const lines of wholeLines(work.within(copied))) await send(lines);
      } catch (error) {
        // While rows are unread no other statement can run, not even the end of the transaction.
        await connection.end();
        throw !signal.aborted && (work.isOver || isBeyondLimits(error)) ? tooLarge(error) : error;
      } finally {
        signal.removeEventListener('abort', close);
      }
    },
    'BEGIN READ ONLY',
  );
}

/** Its time was over, or what one connection may take of the disk to sort rows: trying again would take as much again. */
const isBeyondLimits = (error: unknown): boolean =>
  ['57014', '53400'].includes(String((error as { code?: unknown }).code));

const tooLarge = (cause: unknown): Problem =>
  new Problem(
    'too-large',
    'The export takes more time or room than one may; select fewer rows, or sort by other fields.',
    { cause },
  );

/** Splits a stream between lines. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      yield Buffer.concat([...begun, chunk.subarray(0, end)]);
      begun = [];
    }
    if (end < chunk.length) begun.push(chunk.subarray(end));
  }
}

/** The statement of an export; it contains its values, because `COPY` takes no parameters. */
function exportQuery({ definition, fields, includeId, selection: text, caller }: ExportOptions): string {
  const unknown = fields.findIndex((property) => !(property in definition.fields));
  if (unknown >= 0)
    throw invalid({ [`selectedFields[${unknown}]`]: 'Enum' }, `There is no field "${fields[unknown]}".`);
  const selection = parseSelection(text, listRulesOf(definition));
  if (new Set(fields).size < fields.length) throw invalid({ selectedFields: 'Unique' });
  const columns = fields.map((property) => exportedColumn(definition, property));
  const visible = definition.visibleTo?.(caller);
  const conditions = [
    `t.tenant_id = ${literal(caller.tenantId)}::uuid`,
    ...(visible ? [`(${visible})`] : []),
    ...selection.filters.map((filter) => filterSql(definition, filter)),
    ...searchSql(definition, selection),
  ];
  return `SELECT ${[...(includeId ? ['t.id'] : []), ...columns].join(', ')}
    FROM ${escapeIdentifier(definition.table)} AS t ${relationJoins(definition)}
    WHERE ${conditions.join(' AND ')} ORDER BY ${orderOf(definition, selection).join(', ')}`;
}

const literal = (value: Filter['values'][number]): string =>
  escapeLiteral(value instanceof Date ? value.toISOString() : String(value));

/** A total order: the key is one already, and has an index; otherwise the id completes it. */
function orderOf(definition: ExchangeDefinition, { sort }: Selection): string[] {
  const sorted = new Set(sort.map(({ field }) => field));
  const isTotal = definition.key.length > 0 && definition.key.every((property) => sorted.has(property));
  const order = sort.map(
    ({ field, descending }) => `${columnOf(definition, field)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`,
  );
  return isTotal ? order : [...order, 't.id'];
}

function columnOf({ fields }: ExchangeDefinition, property: string): string {
  const { column, relation } = fields[property]!;
  return relation ? relatedKey(property, relation) : `t.${escapeIdentifier(column)}`;
}

function exportedColumn(definition: ExchangeDefinition, property: string): string {
  const field = definition.fields[property]!;
  if (field.exportAs) return field.exportAs;
  const column = columnOf(definition, property);
  switch (field.type) {
    case 'timestamp':
      return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    case 'date':
      return `to_char(${column}, 'YYYY-MM-DD')`;
    case 'boolean':
      return `${column}::text`;
    default:
      return column;
  }
}

const comparisons: Partial<Record<Filter['operator'], string>> = {
  eq: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};

function filterSql(definition: ExchangeDefinition, { field, operator, values }: Filter): string {
  const column = columnOf(definition, field);
  const { relation } = definition.fields[field]!;
  const { sqlType } = relation?.key ?? definition.fields[field]!;
  const value = (index: number) => `${literal(values[index]!)}::${sqlType}`;
  switch (operator) {
    case 'in':
      return `${column} = ANY(ARRAY[${values.map(literal).join(', ')}]::${sqlType}[])`;
    case 'between':
      return `${column} BETWEEN ${value(0)} AND ${value(1)}`;
    case 'contains':
      return like(column, `%${escapeLike(String(values[0]))}%`);
    case 'startsWith':
      return like(column, `${escapeLike(String(values[0]))}%`);
    case 'endsWith':
      return like(column, `%${escapeLike(String(values[0]))}`);
    default:
      return `${column} ${comparisons[operator]} ${value(0)}`;
  }
}

const like = (column: string, pattern: string): string => likeIgnoringCase(column, literal(pattern));

function searchSql(definition: ExchangeDefinition, { search }: Selection): string[] {
  if (search === undefined) return [];
  const pattern = `%${escapeLike(search)}%`;
  const matches = definition.searchable.map((property) => like(columnOf(definition, property), pattern));
  return [matches.length > 0 ? `(${matches.join(' OR ')})` : 'false'];
}
