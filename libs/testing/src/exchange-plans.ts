import type { Caller } from '@plinth/kernel/caller';
import type { GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Client, Pool } from 'pg';
import { openExchangeOwner } from './exchange-owner';
import { aCaller } from './http';
import { readsUnderAllPlans, type TableRead } from './statement-plans';

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
  rowCount?: number;
  services(pool: Pool): readonly GrpcService[];
}

const BATCH_ROWS = 40;
const ROWS = 200_000;
/** Of one row: its place in indexes of a few levels, the row itself, and what is written of it. */
const PAGES_PER_ROW = 40;

/** The id that `fill` gives to a row, as SQL and as text. */
export const rowId = {
  sql: `('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`,
  of: (number: number): string => `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`,
};

/**
 * Imports in all modes, by keys and by ids, new rows, existing ones and repeated ones; undoes all of it; exports a small
 * tenant. Returns what read more of a table than the rows of its batch need, under any statistics and plan.
 */
export async function excessiveReads(exchange: LargeExchange): Promise<TableRead[]> {
  const { database, definition, columns, cellsOf, fill, keysChange = true, rowCount = ROWS } = exchange;
  const caller = aCaller();
  const start = { definition, mode: 'UPSERT', commit: 'EACH_BATCH' } as const;
  const batch = (first: number, from: number, cells: (number: number) => unknown[]) =>
    Array.from({ length: BATCH_ROWS }, (_, at) => [first + at, ...cells(from + at)]);

  let newRows = 0;
  const work = async (pool: Pool, text: string) => {
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
    newRows += rowCount;
    const fresh = (number: number) => cellsOf(number + newRows, text);
    const byId = { columns: ['id', ...columns] };
    const jobs = [
      // Updated, inserted, and repeated in a later batch.
      await count(caller, {}, [batch(2, 1, existing), batch(102, 1, fresh), batch(202, 1, existing)]),
      await count(caller, { mode: 'UPDATE' }, [batch(2, 101, existing), batch(102, 101, fresh)]),
      await count(caller, { mode: 'INSERT' }, [batch(2, 1, existing)]),
      await count(caller, byId, [batch(2, 201, (number) => [rowId.of(number), ...existing(number)])]),
      ...(keysChange
        ? [await count(caller, byId, [batch(2, 301, (number) => [rowId.of(number), ...fresh(number)])])]
        : []),
    ];
    expect(jobs.map(({ counts }) => counts)).toEqual([
      [1, 1, 0, 1],
      [0, 1, 1, 0],
      [0, 0, 1, 0],
      [0, 1, 0, 0],
      ...(keysChange ? [[0, 1, 0, 0]] : []),
    ]);
    for (const { jobId } of jobs.toReversed()) {
      const undone = await owner.undoImport(caller, { definition, jobId });
      expect(undone.flatMap(({ kept }) => kept)).toEqual([]);
    }
    const newcomer = aCaller();
    await count(newcomer, {}, [batch(2, 1, existing)]);
    await owner.exportRows(newcomer, { definition, fields: [...columns] });
    await owner.close();
  };
  const reads = await readsUnderAllPlans({ ...database, fill }, { id: caller.tenantId, rowCount }, work);
  if (reads.length === 0) throw new Error('No statement was explained.');
  const excessive = reads.filter(
    ({ rows, pages }) => rows > BATCH_ROWS * 4 || pages > BATCH_ROWS * PAGES_PER_ROW,
  );
  // A constraint is checked row by row; its plan is the same for all of them.
  return [
    ...new Map(excessive.map((read) => [`${read.plans} ${read.access} ${read.statement}`, read])).values(),
  ];
}
