import { companyDeleted, contactsNoted } from '@plinth/contracts/contacts/events';
import { deleteExpiredImports } from '@plinth/exchange/import-retention';
import { serveExchange } from '@plinth/exchange/serve-exchange';
import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import fc from 'fast-check';
import { companiesExchange } from '../src/exchange/companies';
import { contactsExchange } from '../src/exchange/contacts';
import { UndoModel, steps } from './undo-model';
import { aCompany, aContact, eventsOf, startContacts, type Contacts } from './start-contacts';

const columns = ['externalId', 'name', 'kind', 'isActive'];
const definition = companiesExchange.name;
const start = { definition, columns, mode: 'UPSERT', commit: 'EACH_BATCH' } as const;
const row = (number: number, externalId: string, name: string) => [
  number,
  externalId,
  name,
  'Customer',
  'true',
];

/** Selects something for each session that waits for the running transaction. */
const waiting = (what: string) =>
  `SELECT ${what} FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`;

describe('undoing an import', () => {
  let service: Contacts;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startContacts();
    owner = await openExchangeOwner([serveExchange([companiesExchange, contactsExchange], service)]);
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  const names = async (caller: ReturnType<typeof aCaller>) =>
    Object.fromEntries(await owner.exportRows(caller, { definition, fields: ['externalId', 'name'] }));
  const query = (tenantId: string, text: string) =>
    inTenantConnection(service.pool, tenantId, (connection) => connection.query(text));

  it('removes inserted rows and restores updated ones exactly', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const before = await aCompany(http, {
      externalId: 'C-1',
      name: 'Old',
      foundedOn: '1864-05-04',
      creditLimit: 1234567890123.1,
    });
    const { jobId } = await owner.importRows(
      caller,
      { ...start, columns: [...columns, 'foundedOn', 'creditLimit'] },
      [[[...row(2, 'C-1', 'New'), '', '2']], [[...row(3, 'C-2', 'Other'), '', '']]],
    );

    const undone = await owner.undoImport(caller, { definition, jobId });

    expect(undone).toMatchObject([
      { removed: 1, restored: 0, gone: 0, kept: [] },
      { removed: 0, restored: 1, gone: 0, kept: [] },
    ]);
    const { items } = (await http.get('/companies')).body;
    expect(items).toEqual([{ ...before, changedAt: items[0].changedAt, changedBy: caller.userId }]);
    const { headers } = await http.get(`/companies/${before.id}`);
    expect(headers.get('etag')).toBe('"3"');
    expect((await eventsOf(service, caller.tenantId, companyDeleted)).map(({ payload }) => payload)).toEqual([
      { id: expect.any(String), externalId: 'C-2' },
    ]);
    const noted = await eventsOf(service, caller.tenantId, contactsNoted);
    expect(noted.at(-1)!.payload).toMatchObject({ entityIds: [before.id], texts: { en: 'Import undone.' } });
  });

  it('leaves rows that were changed since, and reports their rows of the file', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const updated = await aCompany(http, { externalId: 'deleted' });
    const { jobId } = await owner.importRows(caller, start, [
      [
        row(2, 'changed', 'x'),
        row(3, 'used', 'x'),
        row(4, 'deleted', 'x'),
        row(5, 'gone', 'x'),
        row(6, 'still', 'x'),
      ],
    ]);
    const { items } = (await http.get('/companies')).body;
    const idOf = (externalId: string) =>
      items.find((item: { externalId: string }) => item.externalId === externalId).id;
    const { body } = await http.get(`/companies/${idOf('changed')}`);
    await http.put(`/companies/${body.id}`, { ...body, name: 'Mine' });
    await aContact(http, { company: { externalId: 'used' } });
    await http.delete(`/companies/${updated.id}`);
    await http.delete(`/companies/${idOf('gone')}`);

    const undone = await owner.undoImport(caller, { definition, jobId });

    expect(undone).toMatchObject([
      {
        removed: 1,
        restored: 0,
        gone: 1,
        kept: [
          { rowNumber: 2, key: 'changed', reason: 'ChangedSince' },
          { rowNumber: 3, key: 'used', reason: 'InUse' },
          { rowNumber: 4, key: 'deleted', reason: 'DeletedSince' },
        ],
      },
    ]);
    expect(await names(caller)).toEqual({ changed: 'Mine', used: 'x' });
  });

  it('restores what another transaction wrote while the import waited for the row', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    await aCompany(service.as(caller), { externalId: 'A', name: 'Old' });
    const importing = await inTenantConnection(service.pool, tenantId, async (other) => {
      await other.query(
        `INSERT INTO company (tenant_id, id, external_id, name, kind, is_active, created_by, changed_by)
         VALUES ($1, $2, 'B', 'Theirs', 'Customer', true, 'grace', 'grace')`,
        [tenantId, newId()],
      );
      const job = owner.importRows(caller, start, [[row(2, 'A', 'New')], [row(3, 'B', 'New')]]);
      await eventually(async () => (await other.query(waiting('pid'))).rowCount === 1);
      return { job };
    });
    const { jobId } = await importing.job;
    expect(await names(caller)).toEqual({ A: 'New', B: 'New' });

    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([
      { restored: 1, kept: [] },
      { restored: 1, kept: [] },
    ]);
    expect(await names(caller)).toEqual({ A: 'Old', B: 'Theirs' });
  });

  it('leaves a row whose former key belongs to another row by now', async () => {
    const caller = aCaller();
    const { id } = await aCompany(service.as(caller), { externalId: 'A' });
    const { jobId } = await owner.importRows(caller, { ...start, columns: ['id', ...columns] }, [
      [[2, id, 'B', 'Renamed', 'Customer', 'true']],
    ]);
    await aCompany(service.as(caller), { externalId: 'A', name: 'Another' });

    const undone = await owner.undoImport(caller, { definition, jobId });

    expect(undone).toMatchObject([{ restored: 0, kept: [{ rowNumber: 2, key: 'B', reason: 'Conflict' }] }]);
    expect(await names(caller)).toEqual({ A: 'Another', B: 'Renamed' });
  });

  it('returns the same result again, from any position', async () => {
    const caller = aCaller();
    const { jobId } = await owner.importRows(
      caller,
      start,
      [2, 3, 4].map((number) => [row(number, `C-${number}`, 'x')]),
    );

    const undone = await owner.undoImport(caller, { definition, jobId });
    await aCompany(service.as(caller), { externalId: 'C-3' });

    expect(await owner.undoImport(caller, { definition, jobId })).toEqual(undone);
    const after = undone[0]!.number;
    expect(await owner.undoImport(caller, { definition, jobId, after })).toEqual(undone.slice(1));
    expect(await names(caller)).toEqual({ 'C-3': 'Analytical Engines' });
  });

  it('is atomic for each batch when its connection breaks, and continues from there', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    await aCompany(service.as(caller), { externalId: 'A', name: 'Old' });
    const { jobId } = await owner.importRows(caller, start, [
      [row(2, 'A', 'New'), row(3, 'B', 'New')],
      [row(4, 'C', 'New')],
    ]);
    await inTenantConnection(service.pool, tenantId, async (other) => {
      await other.query(`SELECT FROM company WHERE external_id = 'B' FOR UPDATE`);
      const broken = expect(owner.undoImport(caller, { definition, jobId })).rejects.toThrow();
      await eventually(async () => (await other.query(waiting('pg_terminate_backend(pid)'))).rowCount === 1);
      await broken;
    });
    expect(await names(caller)).toEqual({ A: 'New', B: 'New' });

    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([
      { removed: 1, restored: 0, kept: [] },
      { removed: 1, restored: 1, kept: [] },
    ]);
    expect(await names(caller)).toEqual({ A: 'Old' });
  });

  it('also undoes imports in one transaction and aborted ones, which accept no further batch', async () => {
    const caller = aCaller();
    const whole = await owner.importRows(caller, { ...start, commit: 'ALL_OR_NOTHING' }, [
      [row(2, 'A', 'x'), row(3, 'B', 'x')],
    ]);
    const broken = await owner.importRows(caller, start, [[row(2, 'C', 'x')]], { end: false });

    expect(await owner.undoImport(caller, { definition, jobId: whole.jobId })).toMatchObject([
      { removed: 2 },
    ]);
    expect(await owner.undoImport(caller, { definition, jobId: broken.jobId })).toMatchObject([
      { removed: 1 },
    ]);
    const late = await owner.importRows(caller, { ...start, jobId: broken.jobId }, [[row(3, 'D', 'x')]], {
      firstBatch: 2,
    });
    expect(late.results).toMatchObject([{ sealed: true }]);
    expect(await names(caller)).toEqual({});
  });

  it('requires the permission to change rows, in the own tenant', async () => {
    const caller = aCaller();
    const { jobId } = await owner.importRows(caller, start, [[row(2, 'A', 'x')]]);
    const reader = aCaller({ ...caller, permissions: ['Contacts.Companies.Read'] });

    await expect(owner.undoImport(reader, { definition, jobId })).rejects.toMatchObject({
      kind: 'forbidden',
    });
    expect(await owner.undoImport(aCaller(), { definition, jobId })).toEqual([]);
    expect(await names(caller)).toEqual({ A: 'x' });
  });

  it('still has the records of recent imports after expired ones were deleted', async () => {
    const caller = aCaller();
    await aCompany(service.as(caller), { externalId: 'A' });
    const rowsOf = (name: string) => [[row(2, 'A', name), row(3, 'without a name', '')]];
    const { jobId } = await owner.importRows(caller, start, rowsOf('x'));
    const recent = await owner.importRows(caller, start, rowsOf('y'));
    const { tenantId } = caller;
    await query(
      tenantId,
      `UPDATE exchange_job SET changed_at = now() - interval '8 days 1 hour' WHERE job_id = '${jobId}'`,
    );
    await query(
      tenantId,
      `UPDATE exchange_former SET kept_at = now() - interval '8 days 1 hour' WHERE job_id = '${jobId}'`,
    );

    const deleted: string[] = [];
    const deleteThem = (isClosed: () => boolean) =>
      deleteExpiredImports(service.pool, 7, (table) => deleted.push(table), isClosed);
    // What is closed meanwhile ends with its part.
    await deleteThem(() => deleted.includes('exchange_key'));
    expect(new Set(deleted)).toEqual(new Set(['exchange_key', 'exchange_former']));
    await deleteThem(() => false);

    const { rows } = await query(
      tenantId,
      `SELECT job_id FROM exchange_job UNION ALL SELECT job_id FROM exchange_write
       UNION ALL SELECT job_id FROM exchange_batch UNION ALL SELECT job_id FROM exchange_former
       UNION ALL SELECT job_id FROM exchange_key`,
    );
    expect(rows).toEqual(Array.from({ length: 5 }, () => ({ job_id: recent.jobId })));
  });

  it('is refused, and takes nothing back, where the deletion of the ledger has begun; one that runs keeps its ledger', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const six = (name: string) => Array.from({ length: 6 }, (_, at) => [row(at + 2, `${name}-${at}`, name)]);
    const half = await owner.importRows(caller, start, six('half'));
    const running = await owner.importRows(caller, start, six('running'));
    const expire = (jobId: string, age: string) =>
      query(
        tenantId,
        `UPDATE exchange_job SET changed_at = now() - interval '${age}' WHERE job_id = '${jobId}'`,
      );
    await expire(half.jobId, '20 days');
    const deleted: string[] = [];
    await deleteExpiredImports(
      service.pool,
      7,
      (table, count) => count > 0 && deleted.push(table),
      () => deleted.length > 0,
    );
    expect(deleted).toEqual(['exchange_write']);

    await expect(owner.undoImport(caller, { definition, jobId: half.jobId })).rejects.toMatchObject({
      kind: 'not-found',
    });
    expect(Object.keys(await names(caller))).toHaveLength(12);

    await expire(running.jobId, '20 days');
    const [last] = await owner.undoImport(caller, { definition, jobId: running.jobId, after: 1 });
    expect(last).toBeUndefined();
    await deleteExpiredImports(service.pool, 7);
    expect(await owner.undoImport(caller, { definition, jobId: running.jobId })).toHaveLength(6);
    expect(Object.values(await names(caller))).toEqual(Array.from({ length: 6 }, () => 'half'));
  });

  it('deletes an expired ledger in parts, however large it is, and without waiting for one that is in use', async () => {
    const [caller, other] = [aCaller(), aCaller()];
    await aCompany(service.as(caller), { externalId: 'A' });
    const { jobId } = await owner.importRows(caller, start, [[row(2, 'A', 'x')]]);
    const { jobId: usedId } = await owner.importRows(other, start, [[row(2, 'A', 'x')]]);
    for (const { tenantId } of [caller, other])
      await query(tenantId, `UPDATE exchange_job SET changed_at = now() - interval '8 days 1 hour'`);
    const { tenantId } = caller;
    await query(
      tenantId,
      `INSERT INTO exchange_key (tenant_id, job_id, key_hash, row_number)
       SELECT '${tenantId}', '${jobId}', lpad(to_hex(n), 32, '0')::uuid, n FROM generate_series(1, 20_001) AS n`,
    );
    const keys = async () =>
      Number((await query(tenantId, 'SELECT count(*) FROM exchange_key')).rows[0]!.count);
    let deletion: Promise<unknown> | undefined;

    await inTenantConnection(service.pool, other.tenantId, async (inUse) => {
      await inUse.query('SELECT FROM exchange_job WHERE job_id = $1 FOR UPDATE', [usedId]);
      await inTenantConnection(service.pool, tenantId, async (reader) => {
        await reader.query('SELECT FROM exchange_key WHERE row_number = 20_001 FOR UPDATE');
        deletion = deleteExpiredImports(service.pool, 7);
        await eventually(async () => (await keys()) === 1);
      });
      await deletion;
    });

    const { rows } = await query(
      tenantId,
      `SELECT FROM exchange_job UNION ALL SELECT FROM exchange_write UNION ALL SELECT FROM exchange_batch
       UNION ALL SELECT FROM exchange_former UNION ALL SELECT FROM exchange_key`,
    );
    expect(rows).toEqual([]);
    expect((await query(other.tenantId, 'SELECT job_id FROM exchange_job')).rows).toEqual([
      { job_id: usedId },
    ]);
  });

  it.each([
    [1_000, 1, []],
    [1_001, 0, [{ reason: 'ChangedSince' }]],
  ])('sees through %i later imports that were undone', async (undone, removed, kept) => {
    const caller = aCaller();
    const { tenantId } = caller;
    const { jobId } = await owner.importRows(caller, start, [[row(2, 'A', 'x')]]);
    const later = await owner.importRows(caller, start, [[row(2, 'A', 'y')]]);
    await owner.undoImport(caller, { definition, jobId: later.jobId });
    // As if each had found the row as the undo of the one before had left it.
    await query(
      tenantId,
      `INSERT INTO exchange_former (tenant_id, row_id, job_id, import_row, former, former_transaction,
         restored_by_transaction)
       SELECT tenant_id, row_id, gen_random_uuid(), 2, former, CASE n WHEN 2 THEN former_transaction ELSE 'undo ' || n - 1 END,
         'undo ' || n
       FROM exchange_former, generate_series(2, ${undone}) AS n WHERE job_id = '${later.jobId}'`,
    );
    await query(
      tenantId,
      `UPDATE exchange_former SET former_transaction = 'undo ${undone}' WHERE job_id = '${later.jobId}'`,
    );

    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([{ removed, kept }]);
  });

  it('agrees with a model after any sequence of imports, changes and undone imports', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const caller = aCaller();
        const http = service.as(caller);
        const model = new UndoModel();
        const jobIds: string[] = [];
        const idOf = async (externalId: string): Promise<string> =>
          (await http.get(`/companies?filter[externalId.eq]=${externalId}`)).body.items[0].id;
        for (const [at, step] of all.entries()) {
          const name = `name ${at}`;
          if (step.kind === 'import') {
            const rows = step.keys.map((key, index) => row(index + 2, key, name));
            const half = Math.ceil(rows.length / 2);
            const batches = [rows.slice(0, half), rows.slice(half)].filter(({ length }) => length > 0);
            const { jobId } = await owner.importRows(caller, { ...start, mode: step.mode }, batches);
            jobIds.push(jobId);
            model.import(step.mode, step.keys, name);
          } else if (step.kind === 'undo') {
            const jobId = jobIds[step.job % jobIds.length];
            if (jobId === undefined || model.isUndone(step.job)) continue;
            const writes = await owner.undoImport(caller, { definition, jobId });
            const sum = (count: 'removed' | 'restored' | 'gone') =>
              writes.reduce((total, write) => total + write[count], 0);
            const kept = writes.flatMap((write) => write.kept.map(({ key, reason }) => `${key} ${reason}`));
            const result = { removed: sum('removed'), restored: sum('restored'), gone: sum('gone') };
            expect({ ...result, kept: kept.sort() }).toEqual(model.undo(step.job));
          } else if (model.has(step.key)) {
            const id = await idOf(step.key);
            if (step.kind === 'delete') await http.delete(`/companies/${id}`);
            else {
              const body = { externalId: step.key, name, kind: 'Customer', isActive: true };
              await http.put(`/companies/${id}`, body);
            }
            model.change(step.kind, step.key, name);
          } else {
            await aCompany(http, { externalId: step.key, name });
            model.change('change', step.key, name);
          }
        }
        expect(await names(caller)).toEqual(model.names());
      }),
      { numRuns: Number(process.env['PLINTH_TEST_UNDOS'] ?? 20) },
    );
  });
});
