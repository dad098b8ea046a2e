import crypto from 'node:crypto';
import { once } from 'node:events';
import { contactsNoted, contactsSaved } from '@plinth/contracts/contacts/events';
import { CompanyFields } from '@plinth/contracts/contacts/shapes';
import { openBulkTransaction } from '@plinth/exchange/bulk-transaction';
import { defineExchange } from '@plinth/exchange/definition';
import { BatchImporter } from '@plinth/exchange/import/batch-importer';
import { RecentKeys } from '@plinth/exchange/import/recent-keys';
import { UnwrittenKeys } from '@plinth/exchange/import/unwritten-keys';
import { relationField } from '@plinth/exchange/relation';
import { fieldsOf } from '@plinth/exchange/schema-fields';
import { streamExport } from '@plinth/exchange/export/export-query';
import type { RawRow } from '@plinth/exchange/import/convert-rows';
import { openImportSession } from '@plinth/exchange/import/import-session';
import { inTurnsOf } from '@plinth/exchange/in-turns';
import { serveExchange } from '@plinth/exchange/serve-exchange';
import { undoImport } from '@plinth/exchange/undo/undo-import';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { inTenantConnection, problemOfDatabase, retryConflicts } from '@plinth/runtime/postgres/postgres';
import { awkwardTexts, openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { Client } from 'pg';
import { companiesExchange } from '../src/exchange/companies';
import { contactsExchange } from '../src/exchange/contacts';
import { aCompany, aContact, eventsOf, startContacts, type Contacts } from './start-contacts';

/** The same contacts, but files name their company by what may belong to several. */
const byName = defineExchange({
  ...contactsExchange,
  name: 'Contacts.ByCompanyName',
  searchable: ['lastName'],
  fields: {
    externalId: contactsExchange.fields['externalId']!,
    lastName: contactsExchange.fields['lastName']!,
    channel: contactsExchange.fields['channel']!,
    'company.name': relationField({
      column: 'company_id',
      header: 'Company name',
      references: { table: 'company', key: fieldsOf(CompanyFields)['name']! },
    }),
  },
});

const columns = ['externalId', 'lastName', 'channel', 'company.externalId'];
const start = { definition: 'Contacts.Contacts', columns, mode: 'UPSERT', commit: 'EACH_BATCH' } as const;

const upsertingEachBatch = (caller: Caller, jobId: string) => ({
  jobId,
  mode: 'UPSERT' as const,
  commit: 'EACH_BATCH' as const,
  caller,
  range: 0,
  knowsDuplicates: false,
  inTurns: inTurnsOf(new EventLoopTurns(), caller),
});

describe('imports and exports of contacts and companies', () => {
  let service: Contacts;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startContacts();
    owner = await openExchangeOwner([serveExchange([companiesExchange, contactsExchange, byName], service)]);
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  it('come back from an export as they were, whatever their texts are', async () => {
    const [from, to] = [aCaller(), aCaller()];
    const rows = awkwardTexts.map((text, index) => [
      ...[
        index + 2,
        `P-${index}`,
        text,
        text,
        'ada@example.org',
        '+33 1 23',
        'Post',
        index % 2 ? 'true' : '',
      ],
      ...['1815-12-10', '2026-11-21T10:00:00.123Z', ''],
    ]);
    const all = {
      ...start,
      columns: [
        ...['externalId', 'firstName', 'lastName', 'email', 'phone', 'channel', 'wantsNews', 'bornOn'],
        ...['lastSpokenAt', 'company.externalId'],
      ],
    };
    await owner.importRows(from, all, [rows]);

    expect(await owner.copyRows(from, to, all)).toEqual([]);
    const stored = (caller: Caller) =>
      owner.exportRows(caller, { definition: all.definition, fields: all.columns });
    const copied = (await stored(to)).map(([, , lastName]) => lastName);
    expect(copied.toSorted()).toEqual(awkwardTexts.map((text) => text.normalize('NFC')).toSorted());
    expect(await stored(to)).toEqual(await stored(from));
  });

  it('have the columns of the schema', async () => {
    const { definitions } = await owner.call('ListDefinitions', {}, null);
    const shown = definitions
      .find(({ name }) => name === 'Contacts.Contacts')!
      .fields.map(({ propertyPath, type, header, required, isNavigation }) =>
        [propertyPath, type, header, required ? 'required' : '', isNavigation ? 'navigation' : ''].join(' '),
      );

    expect(shown).toEqual([
      'externalId string External id required ',
      'firstName string First name  ',
      'lastName string Last name required ',
      'email string Email  ',
      'phone string Phone  ',
      'channel enum Preferred channel required ',
      'wantsNews boolean Wants news  ',
      'bornOn date Born on  ',
      'lastSpokenAt timestamp Last spoken at  ',
      'company.externalId string Company external id  navigation',
      'stage enum Stage  ',
    ]);
  });

  it('name the company of a contact by its external id', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await aCompany(http, { externalId: 'C-1' });
    await aCompany(http, { externalId: 'C-2' });

    const { results } = await owner.importRows(caller, start, [
      [
        [2, 'P-1', 'Lovelace', 'email', 'C-1'],
        [3, 'P-2', 'Babbage', 'Phone', ''],
      ],
      [
        [4, 'P-3', 'King', 'Post', 'C-2'],
        [5, 'P-4', 'Byron', 'Post', 'C-1'],
      ],
    ]);

    expect(results).toMatchObject([
      { inserted: 2, failed: 0 },
      { inserted: 2, failed: 0 },
    ]);
    const rows = [
      ['P-1', 'Lovelace', 'Email', 'C-1'],
      ['P-2', 'Babbage', 'Phone', null],
      ['P-3', 'King', 'Post', 'C-2'],
      ['P-4', 'Byron', 'Post', 'C-1'],
    ];
    const request = { definition: 'Contacts.Contacts', fields: columns };
    expect(await owner.exportRows(caller, request)).toEqual(rows);
    const ofOne = { filter: { 'company.externalId.eq': 'C-1' }, sort: '-company.externalId,-externalId' };
    expect(await owner.exportRows(caller, { ...request, selection: ofOne })).toEqual([rows[3], rows[0]]);
  });

  it('insert new rows and update stored ones, in whichever batches they come', async () => {
    const caller = aCaller();
    for (const externalId of ['S-1', 'S-2', 'S-3']) await aContact(service.as(caller), { externalId });
    const batches = [
      ['P-1', 'P-2'],
      ['P-3', 'S-1'],
      ['P-4'],
      ['S-2', 'P-5'],
      ['P-6'],
      ['P-7', 'P-1'],
      ['P-8'],
      ['S-3'],
      ['P-9'],
    ];
    let rowNumber = 1;
    const { results } = await owner.importRows(
      caller,
      { ...start, columns: columns.slice(0, 3) },
      batches.map((ids) => ids.map((id) => [++rowNumber, id, `row ${rowNumber}`, 'Post'])),
    );

    expect(results.map(({ inserted, updated, failed }) => [inserted, updated, failed])).toEqual([
      [2, 0, 0],
      [1, 1, 0],
      [1, 0, 0],
      [1, 1, 0],
      [1, 0, 0],
      [1, 0, 1],
      [1, 0, 0],
      [0, 1, 0],
      [1, 0, 0],
    ]);
    expect(results[5]!.failures).toMatchObject([
      { rowNumber: 11, details: [{ code: 'Service:Identity:DuplicateKey' }] },
    ]);
    const request = { definition: 'Contacts.Contacts', fields: ['externalId', 'lastName'] };
    expect(await owner.exportRows(caller, request)).toEqual([
      ['P-1', 'row 2'],
      ['P-2', 'row 3'],
      ['P-3', 'row 4'],
      ['P-4', 'row 6'],
      ['P-5', 'row 8'],
      ['P-6', 'row 9'],
      ['P-7', 'row 10'],
      ['P-8', 'row 12'],
      ['P-9', 'row 14'],
      ['S-1', 'row 5'],
      ['S-2', 'row 7'],
      ['S-3', 'row 13'],
    ]);
  });

  it('write each row once where two workers send the same batches at the same time', async () => {
    const caller = aCaller();
    const jobId = newId();
    const request = { ...start, columns: columns.slice(0, 3), jobId };
    const batches = Array.from({ length: 10 }, (_, batch) => [[batch + 2, `P-${batch}`, 'Lovelace', 'Post']]);
    const both = await Promise.all([1, 2].map(() => owner.importRows(caller, request, batches)));

    for (const { results } of both)
      expect(results.map(({ inserted }) => inserted)).toEqual(Array(10).fill(1));
    const stored = { definition: 'Contacts.Contacts', fields: ['externalId'] };
    expect(await owner.exportRows(caller, stored)).toHaveLength(10);
    expect(await eventsOf(service, caller.tenantId, contactsSaved)).toHaveLength(10);
  });

  describe('begin a batch while the one before is being committed, and', () => {
    const nothing = () => undefined;
    const openSession = async () => {
      const caller = aCaller();
      const jobId = newId();
      const session = await openImportSession(service, {
        ...upsertingEachBatch(caller, jobId),
        definition: companiesExchange,
        columns: ['externalId', 'name', 'kind', 'isActive'],
      });
      const apply = async (number: number, before?: Promise<unknown>) => {
        const rows: RawRow[] = [[number + 1, `C-${number}`, 'Analytical Engines', 'Customer', 'true']];
        const batch = { number, rows, duplicates: [] };
        const applying = { before, onSent: nothing, onWritten: nothing };
        return session.apply(batch, await session.prepare(batch), applying);
      };
      const stored = () =>
        owner.exportRows(caller, { definition: 'Contacts.Companies', fields: ['externalId'] });
      const seal = async () => (await owner.call('SealImport', { jobId }, caller)).lastBatch;
      return { apply, stored, seal };
    };

    it('commit it behind that', async () => {
      const { apply, stored, seal } = await openSession();
      const first = Promise.withResolvers<void>();
      const second = apply(2, first.promise);
      expect(await apply(1)).toMatchObject({ inserted: 1 });
      first.resolve();

      expect(await second).toMatchObject({ inserted: 1 });
      expect(await stored()).toEqual([['C-1'], ['C-2']]);
      expect(await seal()).toBe(2);
    });

    it('leave nothing of it where that fails', async () => {
      const { apply, stored, seal } = await openSession();
      await apply(1);

      await expect(apply(2, Promise.reject(new Error('not committed')))).rejects.toThrow('not committed');
      expect(await stored()).toEqual([['C-1']]);
      expect(await seal()).toBe(1);
    });

    it('leave nothing of it where the job is sealed meanwhile', async () => {
      const { apply, stored, seal } = await openSession();
      const first = apply(1);
      const sealed = first.then(seal);

      expect(await apply(2, sealed)).toBe('sealed');
      expect(await stored()).toEqual([['C-1']]);
      expect(await sealed).toBe(1);
    });
  });

  it('wait only briefly for rows that another transaction holds, also where they are undone, and go on afterwards', async () => {
    const caller = aCaller();
    const database = { ...service, lockMilliseconds: 20 };
    const nothing = () => undefined;
    const jobId = newId();
    const importRow = async (lastName: string, job: string) => {
      const session = await openImportSession(database, {
        ...upsertingEachBatch(caller, job),
        definition: contactsExchange,
        columns: ['externalId', 'lastName', 'channel'],
      });
      const batch = { number: 1, rows: [[2, 'H-1', lastName, 'Post'] as RawRow], duplicates: [] };
      return session.apply(batch, await session.prepare(batch), { onSent: nothing, onWritten: nothing });
    };
    const undo = () => undoImport(database, { definition: contactsExchange, jobId, caller, after: 0 }).next();
    await importRow('Lovelace', jobId);
    const holding = await openBulkTransaction(service, caller.tenantId);
    await holding.run(({ connection }) => connection.query('SELECT FROM contact FOR UPDATE'));

    const again = newId();
    const refusals = await Promise.allSettled([importRow('King', again), undo()]);
    expect(refusals).toMatchObject([{ reason: { code: '55P03' } }, { reason: { code: '55P03' } }]);
    for (const refusal of refusals)
      expect(problemOfDatabase((refusal as PromiseRejectedResult).reason)?.kind).toBe('overloaded');

    await holding.close();
    expect(await importRow('King', again)).toMatchObject({ updated: 1, failed: 0 });
    expect((await undo()).value).toMatchObject({ removed: 0, kept: [{ reason: 'ChangedSince' }] });
  });

  it('send nothing more on the connection of a dry-run that is rolled back in the middle of a batch', async () => {
    const caller = aCaller();
    const connection = await service.bulkPool.connectFor(['plinth.tenant_id', caller.tenantId]);
    const query = jest.spyOn(connection, 'query');
    const database = { ...service, bulkPool: { connectFor: async () => connection } as unknown as FairPool };
    const { run, close } = await openBulkTransaction(database, caller.tenantId);
    const importer = new BatchImporter(
      {
        definition: companiesExchange,
        jobId: newId(),
        columns: ['externalId', 'name', 'kind', 'isActive'],
        mode: 'UPSERT',
        commit: 'NEVER',
        caller,
        range: 0,
        knowsDuplicates: false,
        inTurns: inTurnsOf(new EventLoopTurns(), caller),
      },
      new UnwrittenKeys(),
    );
    const rows: RawRow[] = [[2, 'C-1', 'Analytical Engines', 'Customer', 'true']];
    const batch = { number: 1, rows, duplicates: [] };
    const sent = Promise.withResolvers<void>();
    const prepared = await importer.prepare(batch);
    const writing = run((transaction) =>
      importer.tryOut(transaction, batch, prepared, { onSent: sent.resolve }),
    );
    await sent.promise;
    await Promise.all([expect(writing).rejects.toThrow('has ended'), close()]);

    const last = query.mock.calls.at(-1);
    query.mockRestore();
    expect(last).toEqual(['ROLLBACK']);
  });

  describe('in a dry-run', () => {
    const nothing = () => undefined;
    const contactColumns = ['externalId', 'lastName', 'channel'];

    afterEach(() => jest.restoreAllMocks());

    const openDryRun = async (caller: Caller, inTurns = inTurnsOf(new EventLoopTurns(), caller)) => {
      const session = await openImportSession(service, {
        definition: contactsExchange,
        jobId: newId(),
        columns: contactColumns,
        mode: 'UPSERT',
        commit: 'NEVER',
        caller,
        range: 0,
        knowsDuplicates: false,
        inTurns,
      });
      let number = 0;
      const tryOut = async (...externalIds: string[]) => {
        const rows = externalIds.map((id, at): RawRow => [number * 10 + at + 2, id, 'tried out', 'Post']);
        const batch = { number: ++number, rows, duplicates: [] };
        return session.apply(batch, await session.prepare(batch), { onSent: nothing, onWritten: nothing });
      };
      return { tryOut, close: session.close };
    };

    it('are let go only when the batch ends that is being tried out', async () => {
      const caller = aCaller();
      const inTurns = inTurnsOf(new EventLoopTurns(), caller);
      const batches = jest.spyOn(BatchImporter.prototype, 'tryOut');
      const [waiting, turn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const dryRun = await openDryRun(caller, async (steps) => {
        if (batches.mock.calls.length === 2) {
          waiting.resolve();
          await turn.promise;
        }
        return inTurns(steps);
      });
      const keysClosed = jest.spyOn(RecentKeys.prototype, 'close');
      await dryRun.tryOut('N-1');

      const trying = dryRun.tryOut('N-1', 'N-2').catch((error: unknown) => error);
      await waiting.promise;
      const released = once(service.bulkPool, 'release');
      const closing = dryRun.close();
      await released;
      expect(keysClosed).not.toHaveBeenCalled();
      turn.resolve();
      await Promise.all([trying, closing]);
      expect(keysClosed).toHaveBeenCalledTimes(1);
    });

    it('hold no row behind its batch, so that neither requests nor other dry-runs wait for it', async () => {
      const caller = aCaller();
      const http = service.as(caller);
      const { id } = await aContact(http, { externalId: 'S-1' });
      await aContact(http, { externalId: 'S-2' });
      const [one, other] = await Promise.all([openDryRun(caller), openDryRun(caller)]);

      for (const found of [one.tryOut('S-1', 'N-1'), other.tryOut('S-2', 'N-2')])
        expect(await found).toMatchObject({ inserted: 1, updated: 1 });
      const renamed = { externalId: 'S-1', lastName: 'King', channel: 'Post' };
      expect((await http.put(`/contacts/${id}`, renamed)).status).toBe(200);
      await aContact(http, { externalId: 'N-1' });
      for (const found of [one.tryOut('S-2', 'N-2'), other.tryOut('S-1', 'N-3')])
        expect(await found).toMatchObject({ inserted: 1, updated: 1 });
      await Promise.all([one.close(), other.close()]);
    });

    it('are tried out again where Postgres gave a batch up for others', async () => {
      const caller = aCaller();
      const http = service.as(caller);
      for (const externalId of ['S-1', 'S-2']) await aContact(http, { externalId });

      // Postgres gives up the one that looks for a deadlock last: on a busy machine that may be this connection.
      const { dryRun, trying } = await retryConflicts(() =>
        inTenantConnection(service.pool, caller.tenantId, async (connection) => {
          const lock = (externalId: string) =>
            connection.query('SELECT FROM contact WHERE external_id = $1 FOR UPDATE', [externalId]);
          await lock('S-2');
          const dryRun = await openDryRun(caller);
          const trying = dryRun.tryOut('S-1', 'S-2');
          const isWaiting = async () => {
            const { rows } = await connection.query(
              `SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`,
            );
            return rows.length;
          };
          try {
            await eventually(isWaiting);
            await lock('S-1');
          } catch (error) {
            void trying.finally(dryRun.close);
            throw error;
          }
          return { dryRun, trying };
        }),
      );

      expect(await trying).toMatchObject({ updated: 2, failed: 0 });
      await dryRun.close();
    });

    it('have each key hashed once', async () => {
      const dryRun = await openDryRun(aCaller());
      const hashed = jest.spyOn(crypto, 'hash');

      for (const keys of [
        ['N-1', 'N-2'],
        ['N-3', 'N-4'],
      ])
        expect(await dryRun.tryOut(...keys)).toMatchObject({ inserted: 2 });
      await dryRun.close();
      expect(hashed).toHaveBeenCalledTimes(4);
    });

    it.each([
      ['in memory', RecentKeys.maximum],
      ['partly in the database', 4],
      ['all in the database', 1],
    ])(
      'are counted as they would be written, also those of one key or id in several batches, %s',
      async (_where, maximum) => {
        jest.replaceProperty(RecentKeys, 'maximum', maximum);
        const caller = aCaller();
        const http = service.as(caller);
        const [first, second] = [
          await aContact(http, { externalId: 'S-1' }),
          await aContact(http, { externalId: 'S-2' }),
        ];
        const rowsOf = (...rows: string[][]) => rows;
        const batches = [
          rowsOf(['', 'P-1', 'Post'], ['', 'P-2', 'Post']),
          rowsOf(['', 'P-2', 'Post'], ['', 'S-1', 'Telegraph'], [second.id, 'S-3', 'Post']),
          rowsOf([first.id, 'S-1', 'Post'], [second.id, 'S-4', 'Post'], ['', 'P-3', 'Post']),
          rowsOf(
            ['', 'P-3', 'Post'],
            ['', 'S-3', 'Post'],
            [first.id, 'S-5', 'Post'],
            [newId(), 'P-9', 'Post'],
          ),
        ];
        let rowNumber = 1;
        const numbered = batches.map((rows) =>
          rows.map(([id, key, channel]) => [++rowNumber, id, key, 'Lovelace', channel]),
        );
        const request = { ...start, columns: ['id', ...contactColumns] };

        const dry = await owner.importRows(caller, { ...request, commit: 'NEVER' }, numbered);
        const { results } = await owner.importRows(caller, request, numbered);

        expect(dry.results).toEqual(results);
        expect(results.map(({ inserted, updated, failed }) => [inserted, updated, failed])).toEqual([
          [2, 0, 0],
          [0, 1, 2],
          [1, 0, 2],
          [0, 1, 3],
        ]);
      },
    );

    it('take no room from others, and are refused what has none; executions take it for new rows only', async () => {
      let room = 3;
      const quota = {
        forImport: ({ isDryRun }: { isDryRun: boolean }) => {
          let left = room;
          const add = (rows: number) => (isDryRun ? (left += rows) : (room += rows));
          return {
            whenKnown: async () => undefined,
            tryTake: (_tenantId: string, rows: number) => add(-rows) >= 0,
            giveBack: (_tenantId: string, rows: number) => void add(rows),
          };
        },
      };
      const limited = await openExchangeOwner([
        serveExchange([contactsExchange], { ...service, importQuotas: { contact: quota } }),
      ]);
      const request = { ...start, columns: contactColumns, commit: 'NEVER' as const };
      const rowOf = (row: number) => [row, `P-${row}`, 'Lovelace', 'Post'];

      const { results } = await limited.importRows(aCaller(), request, [
        [[2, 'P-1', 'Lovelace', 'Post']],
        [
          [3, 'P-2', 'Babbage', 'Post'],
          [4, 'P-3', 'King', 'Post'],
          [5, 'P-4', 'Byron', 'Post'],
        ],
      ]);
      const caller = aCaller();
      const halves = [[2, 3].map(rowOf), [4, 5].map(rowOf)];
      await owner.importRows(caller, { ...request, commit: 'EACH_BATCH' as const }, halves);
      const again = await limited.importRows(caller, request, halves);
      const executed: unknown[] = [];
      for (const half of halves)
        executed.push(
          ...(await limited.importRows(caller, { ...request, commit: 'EACH_BATCH' }, [half])).results,
        );
      await limited.close();

      expect(results).toMatchObject([
        { inserted: 1, failed: 0 },
        { inserted: 0, failed: 3 },
      ]);
      expect(again.results).toMatchObject([{ updated: 2 }, { updated: 2 }]);
      expect(executed).toMatchObject([{ updated: 2 }, { updated: 2 }]);
      expect(room).toBe(3);
    });
  });

  it('are given up where an export takes more than it may, and not tried again', async () => {
    const caller = aCaller();
    await aContact(service.as(caller));
    const endless = {
      ...contactsExchange,
      visibleTo: () => 'pg_cancel_backend(pg_backend_pid()) AND pg_sleep(60)::text IS NULL',
    };
    const slow = await openExchangeOwner([serveExchange([endless], service)]);

    const request = { definition: 'Contacts.Contacts', fields: ['externalId'] };
    await expect(slow.exportRows(caller, request)).rejects.toMatchObject({ kind: 'too-large' });
    await slow.close();
  });

  it('are given up where Postgres works longer than it may, however many rows it has', async () => {
    const caller = aCaller();
    await aContact(service.as(caller));
    const definition = { ...contactsExchange, visibleTo: () => 'pg_sleep(60)::text IS NULL' };
    const options = { definition, fields: ['externalId'], includeId: false, selection: {}, caller };
    const { signal } = new AbortController();

    const exporting = streamExport(service.bulkPool, options, async () => undefined, signal, 10);

    await expect(exporting).rejects.toMatchObject({ kind: 'too-large' });
  });

  it('clear the company of a contact where its cell is empty, and leave it where there is no column', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await aCompany(http, { externalId: 'C-1' });
    const { id } = await aContact(http, { externalId: 'P-1', company: { externalId: 'C-1' } });
    const company = async () => (await http.get(`/contacts/${id}`)).body.company;

    await owner.importRows(caller, { ...start, columns: columns.slice(0, 3) }, [
      [[2, 'P-1', 'King', 'Post']],
    ]);
    expect(await company()).toEqual({ externalId: 'C-1' });

    await owner.importRows(caller, start, [[[2, 'P-1', 'King', 'Post', '']]]);
    expect(await company()).toBeNull();
  });

  it.each([
    ['EACH_BATCH', 1],
    ['ALL_OR_NOTHING', 1],
    ['NEVER', 0],
  ] as const)('wake the relay once they have committed what they published (%s)', async (commit, woken) => {
    let wakes = 0;
    const wakeable = { ...service, outbox: { place: () => 0n, wake: () => void wakes++ } };
    const watched = await openExchangeOwner([serveExchange([contactsExchange], wakeable)]);

    await watched.importRows(aCaller(), { ...start, commit }, [
      [[2, 'P-1', 'Lovelace', 'Post', '']],
      [[3, 'P-2', 'Babbage', 'Telegraph', '']],
    ]);
    await watched.close();

    expect(wakes).toBe(woken);
  });

  it.each(['EACH_BATCH', 'NEVER'] as const)(
    'are refused row by row where their company is not known (%s)',
    async (commit) => {
      const caller = aCaller();
      await aCompany(service.as(caller), { externalId: 'C-1' });
      await aCompany(service.as(aCaller()), { externalId: 'theirs' });

      const { results } = await owner.importRows(caller, { ...start, commit }, [
        [
          [2, 'P-1', 'Lovelace', 'Post', 'nowhere'],
          [3, 'P-2', 'Babbage', 'Post', 'C-1'],
          [4, 'P-3', 'King', 'Post', 'theirs'],
        ],
      ]);

      expect(results).toMatchObject([{ inserted: 1, failed: 2 }]);
      expect(results[0]!.failures).toMatchObject([
        {
          rowNumber: 2,
          kind: 'Identity',
          details: [
            {
              column: 'company.externalId',
              value: 'nowhere',
              code: 'Service:Identity:UnknownReference',
              message: 'Company external id "nowhere" is not known.',
            },
          ],
        },
        { rowNumber: 4, kind: 'Identity', details: [{ value: 'theirs' }] },
      ]);
    },
  );

  it('refuse a row whose company name stands for several companies', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await aCompany(http, { externalId: 'C-1', name: 'Smith' });
    await aCompany(http, { externalId: 'C-2', name: 'Smith' });
    await aCompany(http, { externalId: 'C-3', name: 'Jones' });

    const { results } = await owner.importRows(
      caller,
      { ...start, definition: byName.name, columns: Object.keys(byName.fields) },
      [
        [
          [2, 'P-1', 'Lovelace', 'Post', 'Smith'],
          [3, 'P-2', 'Babbage', 'Post', 'Jones'],
        ],
      ],
    );

    expect(results).toMatchObject([{ inserted: 1, failed: 1 }]);
    expect(results[0]!.failures).toMatchObject([
      {
        rowNumber: 2,
        kind: 'Identity',
        details: [
          {
            code: 'Service:Identity:AmbiguousReference',
            message: 'Company name "Smith" stands for more than one.',
          },
        ],
      },
    ]);
  });

  it('report every error of a row together, an unknown company included', async () => {
    const { results } = await owner.importRows(aCaller(), start, [[[2, 'P-1', '', 'Pigeon', 'C-9']]]);

    expect(results).toMatchObject([{ inserted: 0, failed: 1 }]);
    expect(results[0]!.failures[0]!.details.map(({ column, code }) => [column, code])).toEqual([
      ['lastName', 'Service:Validation:NotEmptyValidator'],
      ['channel', 'Service:Validation:EnumValidator'],
      ['company.externalId', 'Service:Identity:UnknownReference'],
    ]);
  });

  it('query the companies of a batch once, however many rows it has', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    for (const externalId of ['C-1', 'C-2', 'C-3']) await aCompany(http, { externalId });
    const queries = jest.spyOn(Client.prototype, 'query');
    const rows = Array.from({ length: 300 }, (_, index) => [
      index + 2,
      `P-${index}`,
      'x',
      'Post',
      `C-${1 + (index % 3)}`,
    ]);

    const { results } = await owner.importRows(caller, start, [rows]);
    const ofCompanies = queries.mock.calls.filter(([request]) =>
      String((request as { text?: string }).text ?? request).includes('AS related'),
    );
    queries.mockRestore();

    expect(results).toMatchObject([{ inserted: 300, failed: 0 }]);
    expect(ofCompanies).toHaveLength(1);
  });

  it('restore records from their own export exactly', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await aCompany(http, {
      externalId: '=1+1',
      name: 'Müller, "Söhne"\nund Töchter 🚀',
      foundedOn: '1864-05-04',
      creditLimit: 1234567890123.07,
      employees: 0,
      email: 'a@example.com',
    });
    await aCompany(http, { externalId: "'tis", isActive: false, kind: 'Partner' });
    const fields = Object.keys(companiesExchange.fields);
    const exported = await owner.exportRows(caller, { definition: companiesExchange.name, fields });

    const other = aCaller();
    const rows = exported.map((cells, index) => [
      index + 2,
      ...cells.map((cell) => (cell === null ? '' : String(cell))),
    ]);
    const { results } = await owner.importRows(
      other,
      { ...start, definition: companiesExchange.name, columns: fields },
      [rows],
    );

    expect(results).toMatchObject([{ inserted: 2, failed: 0 }]);
    expect(await owner.exportRows(other, { definition: companiesExchange.name, fields })).toEqual(exported);
  });

  it('report for each cell which rule of the schema it breaks', async () => {
    const { results } = await owner.importRows(
      aCaller(),
      { ...start, definition: companiesExchange.name, columns: Object.keys(companiesExchange.fields) },
      [[[2, 'x'.repeat(65), ' ', 'Friend', 'maybe', '1864-02-30', '1.005', '-1', 'nobody']]],
    );

    expect(results[0]!.failures[0]!.details.map(({ column, code }) => [column, code])).toEqual([
      ['externalId', 'Service:Validation:MaximumLengthValidator'],
      ['name', 'Service:Validation:NotEmptyValidator'],
      ['kind', 'Service:Validation:EnumValidator'],
      ['isActive', 'Service:Conversion:Boolean'],
      ['foundedOn', 'Service:Conversion:Date'],
      ['creditLimit', 'Service:Validation:FormatValidator'],
      ['employees', 'Service:Validation:RangeValidator'],
      ['email', 'Service:Validation:FormatValidator'],
    ]);
  });

  it('publish one event for each batch, with the ids of all written records', async () => {
    const caller = aCaller();
    const rows = [1, 2, 3].map((number) => [number + 1, `P-${number}`, 'x', 'Post', '']);

    await owner.importRows(caller, start, [rows]);

    const { items } = (await service.as(caller).get('/contacts')).body;
    const ids = items.map(({ id }: { id: string }) => id);
    const [saved, ...others] = await eventsOf(service, caller.tenantId, contactsSaved);
    expect(others).toEqual([]);
    expect(saved!.payload).toEqual({ ids: expect.arrayContaining(ids), isImport: true });
    const [noted] = await eventsOf(service, caller.tenantId, contactsNoted);
    expect(noted!.payload).toMatchObject({ entityType: 'Contact', texts: { en: 'Imported.' } });
  });

  it('publish a written record once, where the attempt to insert its batch as new has failed', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [[[2, 'P-1', 'x', 'Post', '']]]);
    const rows = [1, 2].map((number) => [number + 1, `P-${number}`, 'y', 'Post', '']);

    await owner.importRows(caller, start, [rows]);

    const { items } = (await service.as(caller).get('/contacts')).body;
    const ids = items.map(({ id }: { id: string }) => id);
    const events = await eventsOf(service, caller.tenantId, contactsSaved);
    const published = events.map(({ payload }) => (payload as { ids: string[] }).ids.toSorted());
    expect(published.map(({ length }) => length).toSorted()).toEqual([1, 2]);
    expect(published).toContainEqual(ids.toSorted());
  });

  it('require the permission to change records', async () => {
    const reader = aCaller({ permissions: ['Contacts.Contacts.Read'] });
    await expect(owner.importRows(reader, start, [[]])).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
