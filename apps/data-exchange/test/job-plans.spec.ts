import type { PrismaPg } from '@prisma/adapter-pg';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { rowId } from '@plinth/testing/exchange-plans';
import { aCaller } from '@plinth/testing/http';
import { firstRows } from '@plinth/testing/list-requests';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { unrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import type { Client } from 'pg';
import { Registry } from 'prom-client';
import { tenantUsageStore } from '../src/store/tenant-usage-store';
import { wholeFile } from '../src/formats/record-index';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { exportStore } from '../src/store/export-store';
import { FailedPartsDraft, failedRowStore, type FailedPart } from '../src/store/failed-row-store';
import { importStore } from '../src/store/import-store';
import { importUndoStore } from '../src/store/import-undo-store';
import { measureJobs } from '../src/store/job-metrics';
import { keyStore } from '../src/store/key-store';
import { mappingStore, saveMapping } from '../src/store/mapping-store';
import { overdueJobStore } from '../src/store/overdue-job-store';
import { presetStore } from '../src/store/preset-store';
import { rangeStore } from '../src/store/range-store';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const noQuota = { forImport: () => ({ tryTake: () => true, whenKnown: async () => undefined }) };
const JOBS = 20_000;
const BATCH_ROWS = 10;
const at = new Date('2026-11-22T10:00:00Z');

/** A tenant that has as many files stored as the large one has jobs. */
let neighbour = newId();

/** Jobs that have ended, each with an undo, a range, and rows of all kinds; as many of another tenant still have their files. */
async function fillJobs(admin: Client, tenantId: string, count: number): Promise<void> {
  const jobs = (fileRemovedAt: 'now()' | 'NULL') => ({
    import_job: `(tenant_id, id, definition_name, permission, original_file_name, mime_type, file_size_bytes, sha256,
      blob_key, format, status, options, created_by, created_at, completed_at, file_removed_at, rows_removed_at)
      SELECT $1, ${rowId.sql}, 'Shop.Articles', 'Shop', 'a.csv', 'text/csv', 1, '', '', '{}', 'Completed', '{}', 'ada',
        now() + n * interval '1 second', now(), ${fileRemovedAt}, now()`,
    export_job: `(tenant_id, id, definition_name, permission, format, request, status, caller, created_by, created_at,
      completed_at, file_removed_at, file_size_bytes)
      SELECT $1, ${rowId.sql}, 'Shop.Articles', 'Shop', 'csv', '{}', 'Completed', '{}', 'ada',
        now() + n * interval '1 second', now(), ${fileRemovedAt}, 1`,
  });
  const partOfJob = {
    import_range: `(tenant_id, job_id, number, start_byte, records_before) SELECT $1, ${rowId.sql}, 0, 0, 0`,
    import_failed_part: `(tenant_id, job_id, last_row, row_count, details, cells)
      SELECT $1, ${rowId.sql}, 2, 1, '[2,"Validation",[]]', '[]'`,
    import_failed_row: `(tenant_id, job_id, row_number, kind, details, cells)
      SELECT $1, ${rowId.sql}, 2, 'Validation', '[]', '[]'`,
    import_key: `(tenant_id, job_id, range, batch, row_numbers, hashes) SELECT $1, ${rowId.sql}, 0, 1, '{}', '{}'`,
    import_duplicate: `(tenant_id, job_id, row_number, first_row) SELECT $1, ${rowId.sql}, 3, 2`,
    import_undo: `(tenant_id, job_id, status, caller, requested_at) SELECT $1, ${rowId.sql}, 'Undone', '{}', now()`,
    import_kept_row: `(tenant_id, job_id, write_number, position, key, reason)
      SELECT $1, ${rowId.sql}, 1, 0, 'K1', 'ChangedSince'`,
  };
  const saved = {
    saved_mapping: `(tenant_id, definition_name, header_hash, mappings, saved_at)
      SELECT $1, n::text, 'header', '[]', now()`,
    export_preset: `(tenant_id, user_id, definition_name, preset_name, selected_fields, format,
      include_id_for_import) SELECT $1, n::text, 'Shop.Articles', 'Mine', '{}', 'csv', false`,
    executed_operation: `(tenant_id, operation_id, body_hash, result) SELECT $1, n::text, n::text, 'null'`,
  };
  const insert = (table: string, columns: string, ofTenant: string) =>
    admin.query(`INSERT INTO ${table} ${columns} FROM generate_series(1, $2::int) AS n`, [ofTenant, count]);
  for (const [table, columns] of Object.entries({ ...jobs('now()'), ...partOfJob, ...saved }))
    await insert(table, columns, tenantId);
  neighbour = newId();
  for (const [table, columns] of Object.entries(jobs('NULL'))) await insert(table, columns, neighbour);
}

const failedPartsOf = (batch: number): FailedPart[] => {
  const draft = new FailedPartsDraft();
  for (let index = 0; index < BATCH_ROWS; index++)
    draft.add({ rowNumber: batch * BATCH_ROWS + index, kind: 'Validation', details: [], cells: ['K1'] });
  return draft.take();
};

/**
 * What the routes, the workers and the background tasks do with an import that is undone and one that is cancelled, and
 * with exports that are asked for twice and end well, by a failure or because somebody cancels them.
 */
async function runJobs(db: Database, pool: FairPool, caller: Caller): Promise<void> {
  const [imports, ranges, keys] = [importStore(db), rangeStore(db), keyStore(pool, noQuota)];
  const { tenantId } = caller;
  const id = newId();
  const requireRoom = () => {};
  const common = {
    tenantId,
    definitionName: 'Shop.Articles',
    permission: 'Shop',
    widerPermission: null,
    createdBy: 'ada',
    createdAt: at,
  };
  const unrecorded = unrecordedBlobs(db, { delete: async () => {} });
  const upload = async (jobId: string) => {
    await unrecorded.begin({ tenantId, key: '' });
    return imports.insert(
      {
        ...common,
        id: jobId,
        entityType: 'Article',
        originalFileName: 'a.csv',
        mimeType: 'text/csv',
        fileSizeBytes: 1,
        sha256: '',
        blobKey: '',
        format: { kind: 'xlsx' },
      },
      requireRoom,
    );
  };
  expect((await tenantUsageStore(db).of(neighbour)).fileBytes).toBeGreaterThan(0);
  const cancelled = await upload(newId());
  const change = { by: 'ada', at };
  const from = { version: cancelled.version };
  const corrected = await imports.correctFormat(tenantId, cancelled.id, cancelled.format, {
    startsOver: true,
    change,
    from,
  });
  await imports.cancelBeforeExecution(tenantId, corrected.id, at, change);
  await upload(id);
  await imports.keepLayout(tenantId, id, { headers: ['code'], format: { kind: 'xlsx' } });
  await imports.advance(tenantId, id, 'preview', { status: 'Mapped' });
  await imports.advance(tenantId, id, 'execute', { status: 'Executing', caller: { ...caller } as object });
  await imports.recordStart(tenantId, id, at);
  const overdueJobs = overdueJobStore(pool);
  await overdueJobs.list(at);
  await ranges.insert(tenantId, id, [wholeFile]);
  await ranges.get(tenantId, id, 0);
  await ranges.countedBatches(tenantId, id);
  await keys.insert(tenantId, id, 0, 1, [
    [2, newId().replaceAll('-', '')],
    [3, newId().replaceAll('-', '')],
  ]);
  await keys.lastBatch(tenantId, id, 0);
  await keys.findDuplicates(tenantId, id);
  await keys.listDuplicates(tenantId, id, 2, 41);
  const counts = { totalRows: 40, insertedRows: 0, updatedRows: 0, skippedRows: 0, failedRows: 40 };
  for (const number of [1, 2])
    await ranges.countBatch(tenantId, id, 0, {
      number,
      counts,
      failedParts: failedPartsOf(number),
      bytesDone: number,
    });
  const failedRows = failedRowStore(db);
  await failedRows.list(tenantId, id, { after: 0, take: BATCH_ROWS, bytesMax: 1e6, withCells: true });
  await failedRows.groups(tenantId, id);
  await imports.finish(tenantId, id, { status: 'PartiallyCompleted', failedParts: failedPartsOf(3), at });
  await keys.delete(tenantId, id);

  const undos = importUndoStore(db);
  const undo = await undos.begin(tenantId, id, { caller, at }, requireRoom);
  await undos.recordStart(tenantId, id, at);
  await overdueJobs.list(at);
  const kept = Array.from({ length: BATCH_ROWS }, (_, row) => ({
    rowNumber: row,
    key: `K${row}`,
    reason: 'ChangedSince' as const,
  }));
  await undos.countWrite(undo, { number: 2, removed: 0, restored: 0, gone: 0, kept });
  await undos.finish(tenantId, id, { status: 'PartiallyUndone', at });
  await undos.keptRows(tenantId, id);
  await undos.find(tenantId, id);
  await undos.states(tenantId, [id, cancelled.id]);
  await imports.getState(tenantId, id);
  await imports.recordFileRemoval(tenantId, id, at);
  await imports.removeRows(tenantId, id, at);

  const exports = exportStore(db);
  const request = { fields: ['code'], includeId: false, selection: {} } as never;
  const ask = (operationId: string) =>
    exports.insert(
      {
        ...common,
        id: newId(),
        format: 'csv',
        request,
        caller,
        operationId,
        operationBodyHash: 'a hash',
      },
      requireRoom,
    );
  const operationId = newId();
  const { id: exportId } = await ask(operationId);
  expect((await ask(operationId)).id).toBe(exportId);
  const cancellation = { tenantId, operationId: newId(), operationBodyHash: 'a hash' };
  await exports.cancel(cancellation, (await ask(newId())).id, at);
  await exports.fail(tenantId, (await ask(newId())).id, 'The disk is full.', at);
  await overdueJobs.list(at);
  await exports.recordStart(tenantId, exportId, at);
  await exports.begin(tenantId, exportId, 'acme/exports/1');
  await unrecorded.begin({ tenantId, key: 'acme/exports/1' });
  await exports.recordProgress(tenantId, exportId, { phase: 'WritingRows', rowsDone: 1 });
  const file = { blobKey: 'acme/exports/1', fileName: 'a.csv', sizeBytes: 1, sha256: '', rowCount: 1, at };
  await exports.complete(tenantId, exportId, file);
  expect(await exports.isFileOfJob(tenantId, exportId, file.blobKey)).toBe(true);
  await exports.recordFileRemoval(tenantId, exportId, at);
}

/** What looks for the jobs of all tenants whose files, rows or records are at the end of their retention, and for those that run. */
async function sweep(db: Database): Promise<void> {
  const [imports, exports] = [importStore(db), exportStore(db)];
  await imports.listAbandoned(at);
  await imports.listWithFile(at);
  await imports.listWithRows(at);
  await exports.listWithFile({ completed: at, failed: at });
  for (const jobs of [imports, exports]) expect(await jobs.listExpired(at)).toEqual([]);
  const metrics = new Registry();
  measureJobs(metrics, db);
  await metrics.metrics();
}

/** Saves and removes a preset of a person, and saves a mapping. */
async function save(db: Database, caller: Caller): Promise<void> {
  const presets = presetStore(db);
  const preset = { definitionName: 'Shop.Articles', presetName: 'New', selectedFields: [], format: 'csv' };
  await presets.save({ ...caller, userId: '18' }, { ...preset, includeIdForImport: false, filter: {} });
  expect(await presets.remove({ ...caller, userId: '18' }, 'Shop.Articles', 'New')).toBe(true);
  const saved = { definitionName: '18', headerHash: 'header', mappings: [] };
  await db.inTenant(caller.tenantId, (tx) => saveMapping(tx, caller.tenantId, saved));
}

/**
 * Reads presets of a person, a saved mapping, how imports with failed rows were read, and pages of jobs; a page of a
 * filter looks through all of them.
 */
async function read(db: Database, caller: Caller): Promise<void> {
  expect(await presetStore(db).list({ ...caller, userId: '17' }, 'Shop.Articles')).toHaveLength(1);
  await mappingStore(db).get(caller.tenantId, '17', 'header');
  const withFailedRows = await importStore(db).listWithFailedRows(caller.tenantId, 'Shop.Articles');
  expect(withFailedRows.length).toBeGreaterThan(0);
  for (const store of [importStore(db), exportStore(db)])
    for (const descending of [true, false]) {
      const list = firstRows('createdAt', descending);
      const { rows } = await store.list(caller.tenantId, list);
      const { createdAt, id } = rows[1]!;
      await store.list(caller.tenantId, { ...list, after: [createdAt.toISOString(), id] });
    }
}

/** Forgets the newest job of each kind. */
async function removeJobs(db: Database, { tenantId }: Caller): Promise<void> {
  for (const store of [importStore(db), exportStore(db)]) {
    const { rows } = await store.list(tenantId, firstRows('createdAt', true));
    await store.remove(tenantId, rows[0]!.id);
  }
}

describe('the statements of jobs', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('data-exchange');
  });
  afterAll(() => database.drop());

  it('read no more rows than they are asked for, whatever the statistics know', async () => {
    const caller = aCaller();
    const reads = await readsUnderAllPlans(
      { ...database, fill: fillJobs, isOfRequests: true },
      { id: caller.tenantId, rowCount: JOBS },
      (pool) =>
        onTenantDatabase(pool, createClient, async (db) => {
          await runJobs(db, pool, caller);
          await read(db, caller);
          await save(db, caller);
          await sweep(db);
          await removeJobs(db, caller);
        }),
    );

    expect(excessiveOf(reads, BATCH_ROWS)).toEqual([]);
  });
});
