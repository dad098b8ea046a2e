import { aCaller } from '@plinth/testing/http';
import { eventually } from '@plinth/testing/eventually';
import type { ExchangeDefinition } from '@plinth/exchange/definition';
import { newId } from '@plinth/kernel/uuid';
import { holds } from '@plinth/kernel/caller';
import { Client } from 'pg';
import { articles } from './a-shop';
import {
  importFile,
  mappedImport,
  reportOf,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';
import { startWorkerProcess } from './worker-process';

type Caller = ReturnType<typeof aCaller>;

/** Asks for an undo, waits for its end and answers what it says. */
async function undone(exchange: DataExchange, caller: Caller, jobId: string) {
  const http = exchange.as(caller);
  const { status, body } = await http.post(`/imports/${jobId}/undo`);
  if (status !== 202) throw new Error(JSON.stringify(body));
  return endOfUndo(exchange, caller, jobId);
}

const endOfUndo = (exchange: DataExchange, caller: Caller, jobId: string) =>
  eventually(async () => {
    const { body } = await exchange.as(caller).get(`/imports/${jobId}/undo`);
    return body.status === 'Undoing' ? undefined : body;
  });

const publishedEvents = (exchange: DataExchange, { tenantId }: Caller) =>
  exchange.db.inTenant(tenantId, (tx) =>
    tx.$queryRawUnsafe<{ subject: string; payload: object; actorId: string }[]>(
      `SELECT subject, payload, actor_id AS "actorId" FROM outbox WHERE name = 'data-exchange.import-undone'`,
    ),
  );

/** Books are for the staff: an undo by others leaves them. */
const books = {
  ...articles,
  name: 'Shop.Books',
  checkUndo: async (rows, { caller }) =>
    new Set(
      holds(caller, 'Timeline.InternalNotes.Read')
        ? []
        : rows.flatMap(({ row }) => (row['kind'] === 'book' ? [String(row['id'])] : [])),
    ),
} satisfies ExchangeDefinition;

describe('POST /imports/{id}/undo', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange({ definitions: [books] });
  });
  afterAll(() => exchange.close());

  const titles = async ({ tenantId }: Caller) =>
    Object.fromEntries((await exchange.shop.rows(tenantId)).map(({ code, title }) => [code, title]));
  const changeJob = ({ tenantId }: Caller, id: string, data: object) =>
    exchange.db.inTenant(tenantId, (tx) => tx.importJob.updateMany({ where: { tenantId, id }, data }));

  it('undoes the changes of the import, and keeps and lists rows that changed since', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    await importFile(exchange, caller, 'code,title,price\nA,first,1.50\n');
    const { jobId } = await importFile(
      exchange,
      caller,
      'code,title,price\nA,second,\nB,b,2\nC,c,3\nD,d,4\n',
    );
    await exchange.shop.query(`UPDATE article SET title = 'mine' WHERE tenant_id = $1 AND code = 'B'`, [
      caller.tenantId,
    ]);
    await exchange.shop.query(`DELETE FROM article WHERE tenant_id = $1 AND code = 'C'`, [caller.tenantId]);

    const asked = await http.post(`/imports/${jobId}/undo`);
    expect(asked.status).toBe(202);
    expect(asked.headers.get('location')).toBe(`/api/v1/imports/${jobId}/undo`);
    expect(asked.body).toMatchObject({ importJobId: jobId, status: 'Undoing', completedAt: null });

    expect(await endOfUndo(exchange, caller, jobId)).toEqual({
      importJobId: jobId,
      status: 'PartiallyUndone',
      removedRows: 1,
      restoredRows: 1,
      goneRows: 1,
      keptRows: 1,
      kept: [{ rowNumber: 3, key: 'B', reason: 'ChangedSince' }],
      requestedBy: caller.userId,
      requestedAt: expect.any(String),
      completedAt: expect.any(String),
      errorMessage: null,
    });
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([
      { code: 'A', title: 'first', price: '1.50' },
      { code: 'B', title: 'mine' },
    ]);
    expect(await publishedEvents(exchange, caller)).toEqual([
      {
        subject: `ImportJob/${jobId}`,
        actorId: caller.userId,
        payload: {
          jobId,
          definitionName: 'Shop.Articles',
          status: 'PartiallyUndone',
          removedRows: 1,
          restoredRows: 1,
          keptRows: 1,
        },
      },
    ]);
    const job = { id: jobId, status: 'Completed', undoStatus: 'PartiallyUndone', undoableUntil: null };
    expect((await http.get(`/imports/${jobId}`)).body).toMatchObject(job);
    const { items } = (await http.get('/imports')).body;
    expect(items).toMatchObject([job, { status: 'Completed', undoStatus: null }]);
  });

  it('undoes one import after the other, back to the beginning', async () => {
    const caller = aCaller();
    const first = await importFile(exchange, caller, 'code,title\nA,1\nB,1\n');
    const second = await importFile(exchange, caller, 'code,title\nB,2\nC,2\n');
    const third = await importFile(exchange, caller, 'code,title\nA,3\nB,3\n');

    expect(await undone(exchange, caller, third.jobId)).toMatchObject({ status: 'Undone', restoredRows: 2 });
    expect(await titles(caller)).toEqual({ A: '1', B: '2', C: '2' });
    expect(await undone(exchange, caller, second.jobId)).toMatchObject({ removedRows: 1, restoredRows: 1 });
    expect(await undone(exchange, caller, first.jobId)).toMatchObject({ status: 'Undone', removedRows: 2 });
    expect(await titles(caller)).toEqual({});
  });

  it('keeps rows that a later import wrote, and lists them by their row of the first one', async () => {
    const caller = aCaller();
    const first = await importFile(exchange, caller, 'code,title\nX,1\nA,1\n');
    await importFile(exchange, caller, 'code,title\nA,2\n');

    expect(await undone(exchange, caller, first.jobId)).toMatchObject({
      removedRows: 1,
      kept: [{ rowNumber: 3, key: 'A', reason: 'ChangedSince' }],
    });
    expect(await titles(caller)).toEqual({ A: '2' });
  });

  it('counts thousands of rows that it keeps, and stores the first of them with a handful of values', async () => {
    const caller = aCaller();
    const file = (title: string) =>
      `code,title\n${Array.from({ length: 2_000 }, (_, row) => `K${row},${title}\n`).join('')}`;
    const first = await importFile(exchange, caller, file('first'));
    await importFile(exchange, caller, file('second'));
    const queries = jest.spyOn(Client.prototype, 'query');
    const undo = await undone(exchange, caller, first.jobId);
    const values = queries.mock.calls.flatMap((call) =>
      (call as unknown[]).map((part) => (part as { values?: unknown[] } | undefined)?.values?.length ?? 0),
    );
    queries.mockRestore();

    expect(undo).toMatchObject({ status: 'PartiallyUndone', keptRows: 2_000 });
    expect(undo.kept).toHaveLength(1_000);
    expect(undo.kept.at(-1)).toEqual({ rowNumber: 1_001, key: 'K999', reason: 'ChangedSince' });
    expect(Math.max(...values)).toBeLessThan(50);
    const stored = await exchange.db.inTenant(caller.tenantId, (tx) => tx.importKeptRow.count());
    expect(stored).toBe(1_000);
  });

  it('removes the millions of kept rows that a former version stored in parts', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const { body: job } = await upload(exchange, caller, 'code,title\nA,a\n');
    const jobId: string = job.id;
    const kept = [{ rowNumber: 1, key: 'K', reason: 'ChangedSince' as const }];
    const storedRows = () => exchange.db.inTenant(tenantId, (tx) => tx.importKeptRow.count());
    const undo = await exchange.undos.begin(tenantId, jobId, { caller, at: new Date() });
    await exchange.db.inTenant(tenantId, (tx) =>
      tx.$executeRawUnsafe(
        `INSERT INTO import_kept_row (tenant_id, job_id, write_number, position, row_number, key, reason)
         SELECT $1::uuid, $2::uuid, 9, n, n + 1, 'K', 'ChangedSince' FROM generate_series(1, 15000) n`,
        tenantId,
        jobId,
      ),
    );

    const counts: number[] = [];
    for (const number of [8, 7]) {
      await exchange.undos.countWrite(undo, { number, removed: 0, restored: 0, gone: 0, kept });
      counts.push(await storedRows());
    }

    expect(counts).toEqual([5_001, 1_000]);
  });

  it('refuses another body with the idempotency key of the first undo', async () => {
    const caller = aCaller({ operationId: 'undo-once' });
    const { jobId } = await importFile(exchange, aCaller({ tenantId: caller.tenantId }), 'code,title\nA,a\n');
    const undo = async (operationBodyHash: string) =>
      (await exchange.as({ ...caller, operationBodyHash }).post(`/imports/${jobId}/undo`)).status;

    expect([await undo('first'), await undo('first'), await undo('second')]).toEqual([202, 202, 422]);
    await endOfUndo(exchange, caller, jobId);
  });

  it('undoes every import that ran, with any final state', async () => {
    const caller = aCaller();
    const aborted = await importFile(exchange, caller, 'code,title\nA,a\nB,unacceptable\n', {
      onError: 'abort',
    });
    const partly = await importFile(exchange, caller, 'code,title\nC,c\nD,unacceptable\n');
    expect(aborted.report.finalStatus).toBe('Failed');
    expect(partly.report.finalStatus).toBe('PartiallyCompleted');

    expect(await undone(exchange, caller, aborted.jobId)).toMatchObject({ status: 'Undone', removedRows: 0 });
    expect(await undone(exchange, caller, partly.jobId)).toMatchObject({ status: 'Undone', removedRows: 1 });
    expect(await titles(caller)).toEqual({});
  });

  it('undoes an import of several ranges', async () => {
    const ranged = await startDataExchange({ environment: { EXCHANGE_RANGE_BYTES: '65536' } });
    try {
      const caller = aCaller();
      const rows = Array.from({ length: 20_000 }, (_, row) => `K${row},T${row}\n`).join('');
      const { jobId } = await importFile(ranged, caller, `code,title\n${rows}`);
      expect((await ranged.ranges.list(caller.tenantId, jobId)).length).toBeGreaterThan(2);

      expect(await undone(ranged, caller, jobId)).toMatchObject({ status: 'Undone', removedRows: 20_000 });
      expect(await ranged.shop.rows(caller.tenantId)).toEqual([]);
    } finally {
      await ranged.close();
    }
  });

  it('responds 409 before the import has ended and when an undo was requested already', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const mapped = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    expect((await http.get(`/imports/${mapped}`)).body.undoableUntil).toBeNull();
    const { status, body } = await http.post(`/imports/${mapped}/undo`);
    expect(status).toBe(409);
    expect(body.type).toContain('/problems/import-in-wrong-state');
    await http.delete(`/imports/${mapped}`);
    expect((await http.get(`/imports/${mapped}`)).body.undoableUntil).toBeNull();
    expect((await http.post(`/imports/${mapped}/undo`)).status).toBe(409);

    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    const answers = await Promise.all([1, 2, 3].map(() => http.post(`/imports/${jobId}/undo`)));
    expect(answers.map(({ status: one }) => one).sort()).toEqual([202, 409, 409]);
    await endOfUndo(exchange, caller, jobId);
    const again = await http.post(`/imports/${jobId}/undo`);
    expect(again.status).toBe(409);
    expect(again.body.type).toContain('/problems/import-already-undone');
    expect(await publishedEvents(exchange, caller)).toHaveLength(1);
  });

  it('finds its first effect when the operation is repeated', async () => {
    const caller = aCaller({ operationId: newId() });
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    const http = exchange.as(caller);

    const together = await Promise.all([1, 2, 3].map(() => http.post(`/imports/${jobId}/undo`)));
    expect(together.map(({ status }) => status)).toEqual([202, 202, 202]);
    await endOfUndo(exchange, caller, jobId);
    const repeated = await http.post(`/imports/${jobId}/undo`);

    expect([repeated.status, repeated.body.status]).toEqual([202, 'Undone']);
  });

  it('can be requested until 7 days after the end of the import, as its job says, and then responds 410', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    const job = (await http.get(`/imports/${jobId}`)).body;
    expect(Date.parse(job.undoableUntil) - Date.parse(job.completedAt)).toBe(7 * 86_400_000);
    await changeJob(caller, jobId, { completedAt: new Date(Date.now() - 7 * 86_400_000 - 60_000) });

    expect((await http.get(`/imports/${jobId}`)).body.undoableUntil).toBeNull();
    expect((await http.get('/imports')).body.items[0].undoableUntil).toBeNull();
    const { status, body } = await http.post(`/imports/${jobId}/undo`);

    expect([status, body.type]).toEqual([410, expect.stringContaining('/problems/import-undo-expired')]);
    expect(await titles(caller)).toEqual({ A: 'a' });
  });

  it('responds 409 where a definition cannot undo imports', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    await changeJob(caller, jobId, { definitionName: 'Shop.Journal' });

    const { status, body } = await exchange.as(caller).post(`/imports/${jobId}/undo`);

    expect([status, body.type]).toEqual([409, expect.stringContaining('/problems/import-not-undoable')]);
  });

  it('fails where the writes of an import were not recorded, and can be requested again', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    await exchange.shop.query('DELETE FROM exchange_write WHERE job_id = $1', [jobId]);

    const first = await undone(exchange, caller, jobId);
    expect(first).toMatchObject({ status: 'Failed', errorMessage: expect.stringContaining('not recorded') });
    expect((await exchange.as(caller).get(`/imports/${jobId}`)).body.undoableUntil).not.toBeNull();
    expect(await undone(exchange, caller, jobId)).toMatchObject({ status: 'Failed' });
    expect(await titles(caller)).toEqual({ A: 'a' });
  });

  it('can be begun again for rows that it was refused, by whoever may change them, and counts each row once', async () => {
    const staff = aCaller();
    const other = aCaller({
      tenantId: staff.tenantId,
      permissions: ['DataExchange.Imports.Read', 'DataExchange.Imports.Execute', 'Settings.Tenant.Manage'],
    });
    const file = { definitionName: 'Shop.Books' };
    await importFile(exchange, staff, 'code,title,kind\nB,old,Book\n', undefined, file);
    const { jobId } = await importFile(
      exchange,
      staff,
      'code,title,kind\nA,a,Food\nB,new,Book\nC,c,Book\nD,d,Food\n',
      undefined,
      file,
    );
    await exchange.shop.query(`UPDATE article SET title = 'mine' WHERE tenant_id = $1 AND code = 'D'`, [
      staff.tenantId,
    ]);
    const changed = { rowNumber: 5, key: 'D', reason: 'ChangedSince' };
    const refused = {
      ...{ status: 'PartiallyUndone', removedRows: 1, restoredRows: 0, goneRows: 0, keptRows: 3 },
      kept: [
        { rowNumber: 3, key: 'B', reason: 'Refused' },
        { rowNumber: 4, key: 'C', reason: 'Refused' },
        changed,
      ],
    };
    expect(await undone(exchange, other, jobId)).toMatchObject(refused);
    expect((await exchange.as(staff).get('/imports')).body.items[0].undoableUntil).not.toBeNull();
    expect(await undone(exchange, other, jobId)).toMatchObject(refused);

    expect(await undone(exchange, staff, jobId)).toMatchObject({
      ...{ status: 'PartiallyUndone', removedRows: 2, restoredRows: 1, goneRows: 0, keptRows: 1 },
      kept: [changed],
    });
    expect(await titles(staff)).toEqual({ B: 'old', D: 'mine' });
    expect((await exchange.as(staff).get(`/imports/${jobId}`)).body.undoableUntil).toBeNull();
    expect((await exchange.as(staff).post(`/imports/${jobId}/undo`)).status).toBe(409);
  });

  it('takes no result of a run that belongs to an undo before it was begun again', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const { body: job } = await upload(exchange, caller, 'code,title\nA,a\n');
    const begin = (at: number) => exchange.undos.begin(tenantId, job.id, { caller, at: new Date(at) });
    const write = { number: 7, removed: 0, restored: 0, gone: 0 };
    const kept = [{ rowNumber: 2, key: 'A', reason: 'Refused' as const }];
    const first = await begin(1_000);
    await exchange.undos.countWrite(first, { ...write, kept });
    await exchange.undos.finish(tenantId, job.id, { status: 'PartiallyUndone', at: new Date() });
    const second = await begin(2_000);

    await exchange.undos.countWrite(first, { ...write, number: 6, kept });
    await exchange.undos.countWrite(second, { ...write, removed: 1, kept: [] });

    const undo = await exchange.undos.find(tenantId, job.id);
    expect(undo).toMatchObject({ lastWrite: 7, removedRows: 1, keptRows: 0, refusedRows: 0 });
    await exchange.undos.finish(tenantId, job.id, { status: 'Undone', at: new Date() });
  });

  it('needs the permissions of an import, in the same tenant', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    const status = async (who: Caller) => (await exchange.as(who).post(`/imports/${jobId}/undo`)).status;
    const holding = (...permissions: string[]) => aCaller({ ...caller, permissions });

    expect(await status(holding('DataExchange.Imports.Read', 'Settings.Tenant.Manage'))).toBe(403);
    expect(await status(holding('DataExchange.Imports.Read', 'DataExchange.Imports.Execute'))).toBe(403);
    expect(await status(aCaller())).toBe(404);
    expect((await exchange.as(caller).get(`/imports/${jobId}/undo`)).status).toBe(404);

    expect(await undone(exchange, caller, jobId)).toMatchObject({ status: 'Undone' });
    const reader = exchange.as(holding('DataExchange.Imports.Read'));
    expect((await reader.get(`/imports/${jobId}/undo`)).status).toBe(403);
    expect((await reader.get(`/imports/${jobId}/undo/events`)).status).toBe(403);
  });

  it('has reports that are made four at a time', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    const others = [aCaller(), aCaller(), aCaller(), aCaller()];
    for (const other of others) expect(exchange.reportPlaces.tryEnter(other)).toBe(true);

    const report = exchange.as(caller).get(`/imports/${jobId}/report`);
    await eventually(() => exchange.reportPlaces.waitingCount === 1);

    for (const other of others) exchange.reportPlaces.leave(other);
    expect((await report).body).toMatchObject({ insertedRows: 1 });
  });

  it('sends its progress as events until it ends', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\nB,b\n');
    const http = exchange.as(caller);
    expect((await http.get(`/imports/${jobId}/undo/events`)).status).toBe(404);
    await http.post(`/imports/${jobId}/undo`);

    const { text } = await http.get(`/imports/${jobId}/undo/events`);

    const [, last] = /event: end\ndata: (.*)/.exec(text)!;
    expect(JSON.parse(last!)).toMatchObject({ status: 'Undone', rowsDone: 2, rowsFailed: 0 });
  });

  it('waits for a data owner that is unavailable', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');

    await exchange.shop.restart(async () => {
      await exchange.as(caller).post(`/imports/${jobId}/undo`);
    });

    expect(await endOfUndo(exchange, caller, jobId)).toMatchObject({ status: 'Undone', removedRows: 1 });
  });

  it('is started by the background task when its start was lost', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    await exchange.undos.begin(caller.tenantId, jobId, {
      caller: { ...caller, permissions: [...caller.permissions] },
      at: new Date(),
    });

    await Promise.all([exchange.starter.startOverdueJobs(), exchange.starter.startOverdueJobs()]);

    expect(await endOfUndo(exchange, caller, jobId)).toMatchObject({ status: 'Undone' });
    expect(await publishedEvents(exchange, caller)).toHaveLength(1);
  });
});

describe('an undo whose worker crashes', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange({ worker: false });
  });
  afterAll(() => exchange.close());

  it('continues in another worker, counts each row once and never touches kept rows', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    let jobId = '';
    const rows = 24_000;
    const importAll = async (title: string, from: number) => {
      const lines = Array.from({ length: rows - from }, (_, row) => `K${row + from},${title}\n`);
      const id = await mappedImport(exchange, caller, `code,title\n${lines.join('')}`);
      await exchange.as(caller).post(`/imports/${id}/execute`);
      await reportOf(exchange, caller, id);
      return id;
    };
    const first = await startWorkerProcess(exchange.environment);
    try {
      await importAll('old', rows / 2);
      jobId = await importAll('new', 0);
      await exchange.shop.query(
        `UPDATE article SET title = 'mine' WHERE tenant_id = $1 AND code LIKE '%99'`,
        [tenantId],
      );
      await exchange.as(caller).post(`/imports/${jobId}/undo`);
      await eventually(async () => (await exchange.undos.find(tenantId, jobId))!.lastWrite !== null);
    } finally {
      await first.kill();
    }

    const second = await startWorkerProcess(exchange.environment);
    try {
      expect(await endOfUndo(exchange, caller, jobId)).toMatchObject({
        status: 'PartiallyUndone',
        removedRows: (rows / 2) * 0.99,
        restoredRows: (rows / 2) * 0.99,
        goneRows: 0,
        keptRows: rows / 100,
      });
      const { rows: left } = await exchange.shop.query(
        'SELECT title, count(*)::int AS count FROM article WHERE tenant_id = $1 GROUP BY title ORDER BY title',
        [tenantId],
      );
      expect(left).toEqual([
        { title: 'mine', count: rows / 100 },
        { title: 'old', count: (rows / 2) * 0.99 },
      ]);
    } finally {
      await second.kill();
    }
  });
});
