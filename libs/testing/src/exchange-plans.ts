import type { Caller } from '@plinth/kernel/caller';
import { RecentKeys } from '@plinth/exchange/import/recent-keys';
import type { GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Client } from 'pg';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { openExchangeOwner } from './exchange-owner';
import { aCaller } from './http';
import { excessiveOf, readsUnderAllPlans, type TableRead } from './statement-plans';

/** A definition, and a tenant that has many rows of it. */
export interface LargeExchange {
  database: { url: string; adminUrl: string };
  definition: string;
  columns: readonly string[];
  /** The cells of the row with this number; its other values contain a text. */
  cellsOf(number: number, text: string): string[];
  fill(admin: Client, tenantId: string, rowCount: number): Promise<unknown>;
  /** Whether a row may get another key by its id. */
  keysChange?: boolean;
  /** A column of the key that a file may lack. */
  optionalKey?: string;
  services(pool: FairPool): readonly GrpcService[];
}

/** Of the large tenant. */
export const ROWS = Number(process.env['PLINTH_TEST_PLAN_ROWS'] ?? 20_000);
/** So few that a walk through one index of the large tenant, which compares each entry and keeps few, has more pages than they may. */
export const BATCH_ROWS = Math.min(40, ROWS / 2_000);
/** How many rows of the ledger belong to one job of the large tenant. */
const LEDGER_ROWS_OF_JOB = 10;

/** The id that `fill` gives to a row, as SQL and as text. */
export const rowId = {
  sql: `('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`,
  of: (number: number): string => `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`,
};

/**
 * Imports in all modes, by keys and by ids, new rows, existing ones, repeated ones and ones that are not written, and
 * tries that out; undoes all of it, rows that were changed since included; exports a small tenant. Returns what read more of a table, those of
 * the import ledger included, than the rows of its batch need, under any statistics and plan.
 */
export async function excessiveReads(exchange: LargeExchange): Promise<TableRead[]> {
  const { database, definition, columns, cellsOf, fill, keysChange = true, optionalKey } = exchange;
  const caller = aCaller();
  const start = { definition, mode: 'UPSERT', commit: 'EACH_BATCH' } as const;
  const batch = (first: number, from: number, cells: (number: number) => unknown[]) =>
    Array.from({ length: BATCH_ROWS }, (_, at) => [first + at, ...cells(from + at)]);

  let newRows = 0;
  let round = 0;
  const work = async (pool: FairPool, text: string) => {
    const owner = await openExchangeOwner(exchange.services(pool));
    const count = async (by: Caller, options: object, batches: unknown[][][]) => {
      const { jobId, results } = await owner.importRows(
        by,
        { ...start, columns: [...columns], ...options },
        batches,
      );
      const sum = (pick: (one: (typeof results)[number]) => number) =>
        results.reduce((total, one) => total + pick(one), 0);
      const counts = [sum((one) => one.inserted), sum((one) => one.updated), sum((one) => one.skipped)];
      return { jobId, counts: [...counts, sum((one) => one.failed)].map((rows) => rows / BATCH_ROWS) };
    };
    const existing = (number: number) => cellsOf(number, text);
    // Undone rows of some definitions stay, retired: they are not new again.
    newRows += ROWS;
    // Other rows each time: how many former versions of a row are still there depends on what else the server does.
    const first = 1_000 * round++;
    const fresh = (number: number) => cellsOf(number + newRows, text);
    const byId = { columns: ['id', ...columns] };
    const optionalAt = columns.indexOf(optionalKey ?? '');
    const lacking = { columns: byId.columns.filter((column) => column !== optionalKey) };
    const jobs = [
      // Updated, inserted, and repeated in a later batch.
      await count(caller, {}, [
        batch(2, first + 1, existing),
        batch(102, first + 1, fresh),
        batch(202, first + 1, existing),
      ]),
      // Keys that were not written are remembered from the second batch on.
      await count(caller, { mode: 'UPDATE' }, [
        batch(2, first + 101, existing),
        batch(102, first + 101, fresh),
        batch(202, first + 151, fresh),
      ]),
      await count(caller, { mode: 'INSERT' }, [batch(2, first + 1, existing)]),
      await count(caller, byId, [batch(2, first + 201, (number) => [rowId.of(number), ...existing(number)])]),
      ...(keysChange
        ? [
            await count(caller, byId, [
              batch(2, first + 301, (number) => [rowId.of(number), ...fresh(number)]),
            ]),
          ]
        : []),
      ...(optionalKey === undefined
        ? []
        : [
            await count(caller, lacking, [
              batch(2, first + 251, (number) => [
                rowId.of(number),
                ...existing(number).toSpliced(optionalAt, 1),
              ]),
            ]),
          ]),
    ];
    expect(jobs.map(({ counts }) => counts)).toEqual([
      [1, 1, 0, 1],
      [0, 1, 2, 0],
      [0, 0, 1, 0],
      [0, 1, 0, 0],
      ...(keysChange ? [[0, 1, 0, 0]] : []),
      ...(optionalKey === undefined ? [] : [[0, 1, 0, 0]]),
    ]);
    // A dry-run stores the keys of its rows, and the ids of those that it changes, where there are many.
    const kept = jest.replaceProperty(RecentKeys, 'maximum', BATCH_ROWS);
    const named = batch(302, first + 501, (number) => [rowId.of(number), ...existing(number)]);
    const tried = await count(caller, { ...byId, commit: 'NEVER' }, [
      batch(2, first + 501, (number) => ['', ...existing(number)]),
      batch(102, first + 501, (number) => ['', ...fresh(number)]),
      batch(202, first + 501, (number) => ['', ...fresh(number)]),
      named,
    ]);
    kept.restore();
    expect(tried.counts).toEqual([1, 1, 0, 2]);
    for (const { jobId } of jobs.toReversed()) {
      const undone = await owner.undoImport(caller, { definition, jobId });
      expect(undone.flatMap(({ kept }) => kept)).toEqual([]);
    }
    const changedTwice = batch(2, first + 401, existing);
    const [earlier, later] = [
      await count(caller, {}, [changedTwice]),
      await count(caller, {}, [changedTwice]),
    ];
    for (const [{ jobId }, keptRows] of [
      [earlier, BATCH_ROWS],
      [later, 0],
    ] as const) {
      const undone = await owner.undoImport(caller, { definition, jobId });
      expect(undone.flatMap((write) => write.kept)).toHaveLength(keptRows);
    }
    const newcomer = aCaller();
    await count(newcomer, {}, [batch(2, 1, existing)]);
    await owner.exportRows(newcomer, { definition, fields: [...columns] });
    await owner.close();
  };
  const fillAll = async (admin: Client, tenantId: string, count: number) => {
    await fill(admin, tenantId, count);
    await fillLedger(admin, tenantId, count);
  };
  return excessiveOf(
    await readsUnderAllPlans({ ...database, fill: fillAll }, { id: caller.tenantId, rowCount: ROWS }, work),
    BATCH_ROWS,
  );
}

/** What many imports of a tenant have left in the import ledger: for each row a key and a former row. */
async function fillLedger(admin: Client, tenantId: string, rowCount: number): Promise<void> {
  const jobs = Math.ceil(rowCount / LEDGER_ROWS_OF_JOB);
  const insert = (statement: string, count: number) => admin.query(statement, [tenantId, count]);
  await insert(
    `INSERT INTO exchange_job (tenant_id, job_id) SELECT $1, ${rowId.sql} FROM generate_series(1, $2::int) AS n`,
    jobs,
  );
  await insert(
    `INSERT INTO exchange_batch (tenant_id, job_id, batch_number, outcome)
     SELECT $1, ${rowId.sql}, 1, '{}' FROM generate_series(1, $2::int) AS n`,
    jobs,
  );
  await insert(
    `INSERT INTO exchange_write (tenant_id, job_id, transactions, inserted, updated)
     SELECT $1, ${rowId.sql}, '{}', '', '' FROM generate_series(1, $2::int) AS n`,
    jobs,
  );
  const jobOfRow = rowId.sql.replace('to_hex(n)', `to_hex(1 + (n - 1) / ${LEDGER_ROWS_OF_JOB})`);
  await insert(
    `INSERT INTO exchange_key (tenant_id, job_id, key_hash, row_number)
     SELECT $1, ${jobOfRow}, ${rowId.sql}, n FROM generate_series(1, $2::int) AS n`,
    rowCount,
  );
  await insert(
    `INSERT INTO exchange_former (tenant_id, row_id, job_id, import_row, former, former_transaction)
     SELECT $1, ${rowId.sql}, ${jobOfRow}, n, '{}', '1' FROM generate_series(1, $2::int) AS n`,
    rowCount,
  );
}
