import { REPORT_ERROR_GROUPS_MAX, REPORT_GROUPED_ERRORS_MAX } from '@plinth/contracts/data-exchange/shapes';
import { mayHaveUnstorable, storable } from '@plinth/kernel/text';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { ErrorGroup, ErrorGroups } from '../domain/error-groups';
import { stepsByLength } from '@plinth/exchange/in-turns';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import type { FailedRowWithCells } from '../domain/failed-row';
import type { Prisma } from '../generated/client';

export interface FailedRowPage {
  /** A row number. */
  after: number;
  take: number;
  /** Of what is read. */
  bytesMax: number;
  /** A report needs no cells. */
  withCells: boolean;
}

/** The failed rows of imports. */
export interface FailedRowStore {
  /** Failed rows after a row number, in their order: as many as fit in the bytes, and always one. */
  list(tenantId: string, jobId: string, page: FailedRowPage): Promise<FailedRowWithCells[]>;
  /** What is wrong with them, counted by the database up to `REPORT_GROUPED_ERRORS_MAX` errors. */
  groups(tenantId: string, jobId: string): Promise<ErrorGroups>;
}

interface MeasuredRow {
  row: FailedRowWithCells;
  bytes: number;
}

/** @param turns of the event loop of the process, in which rows are read */
export const failedRowStore = (
  db: TenantDatabase<Prisma.TransactionClient>,
  turns: EventLoopTurns = new EventLoopTurns(),
): FailedRowStore => ({
  list: async (tenantId, jobId, page) => {
    // An import has both kinds only where the platform was updated while it ran.
    const { single, parts } = await db.inTenant(tenantId, async (tx) => ({
      single: await readSingle(tx, tenantId, jobId, page),
      parts: await readTogether(tx, tenantId, jobId, page),
    }));
    const together = await turns.takeEach({ tenantId, userId: '' }, rowsOfParts(parts, page));
    const rows = [...single, ...together].sort((left, right) => left.row.rowNumber - right.row.rowNumber);
    let bytes = 0;
    return rows
      .slice(0, page.take)
      .filter((measured, at) => (bytes += measured.bytes) <= page.bytesMax || at === 0)
      .map(({ row }) => row);
  },

  groups: async (tenantId, jobId) => {
    const rows = await db.inTenant(tenantId, (tx) =>
      tx.$queryRawUnsafe<(ErrorGroup & { rows: number })[]>(
        // Each step stops at the limit: a row may have hundreds of errors, and a job may have millions of rows.
        `WITH failed_row AS (
           (SELECT row_number, kind, details::json FROM import_failed_row
            WHERE tenant_id = $1::uuid AND job_id = $2::uuid ORDER BY row_number LIMIT $3)
           UNION ALL
           (SELECT (line->>0)::int, line->>1, line->2
            FROM (SELECT details FROM import_failed_part
                  WHERE tenant_id = $1::uuid AND job_id = $2::uuid ORDER BY last_row LIMIT $3) AS part,
              string_to_table(details, E'\\n') AS text, CAST(text AS json) AS line
            LIMIT $3)
         ), error AS MATERIALIZED (
           SELECT row_number() OVER () AS number, place, kind, detail->>'column' AS "column", detail->>'code' AS code, detail
           FROM failed_row, json_array_elements(details) WITH ORDINALITY AS element (detail, place)
           LIMIT $3
         ), error_group AS (
           SELECT count(*)::int AS count, min(number) AS first,
                  (sum(count(*) FILTER (WHERE place = 1)) OVER ())::int AS rows
           FROM error GROUP BY kind, "column", code
           ORDER BY count DESC, first LIMIT $4
         )
         SELECT kind, count, rows, detail AS example
         FROM error_group JOIN error ON error.number = first ORDER BY count DESC, first`,
        tenantId,
        jobId,
        REPORT_GROUPED_ERRORS_MAX,
        REPORT_ERROR_GROUPS_MAX,
      ),
    );
    return {
      rows: rows[0]?.rows ?? 0,
      groups: rows.map(({ kind, count, example }) => ({ kind, count, example })),
    };
  },
});

/** Rows of imports that ran before failed rows were stored together, up to the first one that is too much. */
const readSingle = async (
  tx: Prisma.TransactionClient,
  tenantId: string,
  jobId: string,
  { after, take, bytesMax, withCells }: FailedRowPage,
): Promise<MeasuredRow[]> => {
  const rows = await tx.$queryRawUnsafe<(FailedRowWithCells & { bytes: bigint })[]>(
    `SELECT row_number AS "rowNumber", kind, details, ${withCells ? 'cells' : `'[]'::jsonb AS cells`}, size AS bytes
     FROM (
       SELECT *, sum(size) OVER (ORDER BY row_number) - size AS before
       FROM (
         SELECT *, octet_length(details::text)${withCells ? ' + octet_length(cells::text)' : ''} AS size
         FROM import_failed_row
         WHERE tenant_id = $1::uuid AND job_id = $2::uuid AND row_number > $3
         ORDER BY row_number LIMIT $4
       ) AS measured
     ) AS row
     WHERE before <= $5 ORDER BY row_number`,
    tenantId,
    jobId,
    after,
    take,
    bytesMax,
  );
  return rows.map(({ bytes, ...row }) => ({ row, bytes: Number(bytes) }));
};

type StoredPart = Record<'details' | 'cells', string>;

/** Rows that were stored together, in the parts that have those of a page. */
const readTogether = (
  tx: Prisma.TransactionClient,
  tenantId: string,
  jobId: string,
  { after, take, bytesMax, withCells }: FailedRowPage,
): Promise<StoredPart[]> =>
  // The rows of the first part may all but one be before the page, and ends of lines count nothing: rather a part too many.
  tx.$queryRawUnsafe<StoredPart[]>(
    `SELECT details, ${withCells ? 'cells' : `'' AS cells`}
     FROM (
       SELECT *, sum(row_count) OVER parts - row_count - first_value(row_count) OVER parts AS rows_before,
              sum(size) OVER parts - size - first_value(size) OVER parts AS bytes_before
       FROM (
         SELECT *, octet_length(details)${withCells ? ' + octet_length(cells)' : ''} - 2 * row_count AS size
         FROM import_failed_part
         WHERE tenant_id = $1::uuid AND job_id = $2::uuid AND last_row > $3
         ORDER BY last_row LIMIT $4
       ) AS measured
       WINDOW parts AS (ORDER BY last_row)
     ) AS part
     WHERE rows_before < $4 AND bytes_before <= $5 ORDER BY last_row`,
    tenantId,
    jobId,
    after,
    take,
    bytesMax,
  );

/** The same up to the first row that is too much, read in steps. */
function* rowsOfParts(
  parts: readonly StoredPart[],
  { after, take, bytesMax, withCells }: FailedRowPage,
): Generator<void, MeasuredRow[]> {
  const read: MeasuredRow[] = [];
  const endsStep = stepsByLength();
  let sum = 0;
  for (const part of parts) {
    const cells = withCells ? part.cells.split('\n') : [];
    for (const [at, line] of part.details.split('\n').entries()) {
      // The rows before a page need not be read for it.
      if (Number.parseInt(line.slice(1), 10) <= after) continue;
      const [rowNumber, kind, details, errorCells] = JSON.parse(line) as DetailsLine;
      const cellsLine = cells[at] ?? '[]';
      const bytes = Buffer.byteLength(line) + (withCells ? Buffer.byteLength(cellsLine) : 0);
      const row = { rowNumber, kind, details, cells: JSON.parse(cellsLine) as string[] };
      read.push({ row: errorCells ? { ...row, errorCells } : row, bytes });
      sum += bytes;
      if (read.length === take || sum > bytesMax) return read;
      if (endsStep({ length: bytes })) yield;
    }
  }
  return read;
}

/** A line of the details of a part. */
type DetailsLine = [
  rowNumber: number,
  kind: FailedRowWithCells['kind'],
  details: FailedRowWithCells['details'],
  errorCells?: FailedRowWithCells['errorCells'],
];

/** Failed rows as they are stored together. Until then they are outside of the heap, which has no room for those of many imports. */
export interface FailedPart {
  lastRow: number;
  rowCount: number;
  details: Buffer;
  cells: Buffer;
}

/** A page of a correction file reads about one part. */
const PART_ROWS_MAX = 1_000;
/** Characters, so that a part with long cells is read in little memory. */
const PART_LENGTH_MAX = 1_000_000;

/** Failed rows in the order of the file, which become what is stored of them. */
export class FailedPartsDraft {
  /** Of the parts, until they are taken. */
  private bytes = 0;
  private parts: FailedPart[] = [];
  private details: string[] = [];
  private cells: string[] = [];
  private length = 0;
  private lastRow = 0;

  /** How much memory they take, until they are taken. */
  get byteLength(): number {
    return this.bytes + this.length;
  }

  add({ rowNumber, kind, details, cells, errorCells }: FailedRowWithCells): void {
    const line: DetailsLine = errorCells
      ? [rowNumber, kind, details, errorCells]
      : [rowNumber, kind, details];
    const [detailsOfRow, cellsOfRow] = [storableJson(line), storableJson(cells)];
    this.details.push(detailsOfRow);
    this.cells.push(cellsOfRow);
    this.length += detailsOfRow.length + cellsOfRow.length;
    this.lastRow = rowNumber;
    if (this.details.length === PART_ROWS_MAX || this.length >= PART_LENGTH_MAX) this.endPart();
  }

  /** All that were added since they were taken last. */
  take(): FailedPart[] {
    if (this.details.length > 0) this.endPart();
    const { parts } = this;
    [this.parts, this.bytes] = [[], 0];
    return parts;
  }

  private endPart(): void {
    const part = {
      lastRow: this.lastRow,
      rowCount: this.details.length,
      details: Buffer.from(this.details.join('\n')),
      cells: Buffer.from(this.cells.join('\n')),
    };
    this.parts.push(part);
    this.bytes += bytesOfParts([part]);
    [this.details, this.cells, this.length] = [[], [], 0];
  }
}

/** How many bytes failed rows take. */
export const bytesOfParts = (parts: readonly FailedPart[]): number =>
  parts.reduce((sum, { details, cells }) => sum + details.length + cells.length, 0);

/** Stores failed rows in the transaction that counts them, which does so once. */
export async function insertFailedParts(
  tx: Prisma.TransactionClient,
  tenantId: string,
  jobId: string,
  parts: readonly FailedPart[],
): Promise<void> {
  for (const { lastRow, rowCount, details, cells } of parts)
    await tx.$executeRawUnsafe(
      `INSERT INTO import_failed_part (tenant_id, job_id, last_row, row_count, details, cells)
       VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6)`,
      tenantId,
      jobId,
      lastRow,
      rowCount,
      details.toString(),
      cells.toString(),
    );
}

/** Functions of Postgres that read JSON accept no NUL and no half of a surrogate pair, which people could not see either. */
function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!mayHaveUnstorable(json)) return json;
  return JSON.stringify(value, (_name, part: unknown) => (typeof part === 'string' ? storable(part) : part));
}
