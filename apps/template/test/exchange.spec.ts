import { serveExchange } from '@plinth/exchange/serve-exchange';
import { awkwardTexts, openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import { aCaller } from '@plinth/testing/http';
import { templatesExchange } from '../src/exchange/templates';
import { grpcServices } from '../src/grpc/server';
import { undoImportedDrafts } from '../src/store/imported-drafts';
import { published, saved, startTemplates, type Templates } from './start-templates';

const definition = 'Templates.Templates';
const columns = ['name', 'culture', 'category', 'mimeType', 'content'];
const start = { definition, columns, mode: 'UPSERT', commit: 'EACH_BATCH' } as const;

describe('import and export of Templates.Templates', () => {
  let service: Templates;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startTemplates();
    owner = await openExchangeOwner(grpcServices(service));
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  it('imports rows as drafts with history, and exports the same rows', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await http.post('/template-categories', { name: 'Mail' });
    await published(http, { name: 'a', content: 'public' });
    const rows = [
      ['a', '', 'Mail', 'text/html', 'imported'],
      ['b', 'fr-CA', null, 'text/plain', 'nouveau'],
    ];

    const { results } = await owner.importRows(caller, start, [
      [
        [2, 'a', '', 'Mail', 'text/html', 'imported'],
        [3, 'b', 'fr-ca', '', 'text/plain', 'nouveau'],
      ],
    ]);

    expect(results).toMatchObject([{ inserted: 1, updated: 1, failed: 0 }]);
    expect(await owner.exportRows(caller, { definition, fields: columns })).toEqual(rows);
    const { body } = await http.get('/templates/a');
    expect(body).toMatchObject({
      category: 'Mail',
      draft: { content: 'imported', status: 0, createdBy: caller.userId },
      published: { content: 'public' },
    });
    expect((await http.get('/templates/a/history')).body.totalCount).toBe(2);
    expect((await http.get('/templates/b?culture=fr-CA')).body.draft).toMatchObject({
      content: 'nouveau',
      mimeType: 'text/plain',
    });
    expect((await http.post('/templates/b/publish?culture=fr-CA')).status).toBe(204);
  });

  it('come back from an export as they were, whatever their texts are', async () => {
    const [from, to] = [aCaller(), aCaller()];
    const rows = awkwardTexts.map((text, index) => [index + 2, `t${index}`, '', '', 'text/plain', text]);
    await owner.importRows(from, start, [rows]);

    expect(await owner.copyRows(from, to, start)).toEqual([]);
    const stored = (caller: Caller) => owner.exportRows(caller, { definition, fields: columns });
    const copied = (await stored(to)).map(([, , , , content]) => content);
    expect(copied.toSorted()).toEqual(awkwardTexts.toSorted());
    expect(await stored(to)).toEqual(await stored(from));
  });

  it('requires a name and a content only, with the defaults of PUT for other fields', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saved(http, { name: 'kept', content: 'first', mimeType: 'text/plain' });

    const { results } = await owner.importRows(caller, { ...start, columns: ['name', 'content'] }, [
      [
        [2, 'new', 'Hello'],
        [3, 'kept', 'second'],
      ],
    ]);

    expect(results).toMatchObject([{ inserted: 1, updated: 1, failed: 0 }]);
    expect((await http.get('/templates/new')).body.draft).toMatchObject({
      content: 'Hello',
      mimeType: 'text/html',
    });
    expect((await http.get('/templates/kept')).body.draft).toMatchObject({
      content: 'second',
      mimeType: 'text/plain',
    });
  });

  it('restores templates when an import is undone, with the imported revisions in the history', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await published(http, { name: 'published', content: 'public' });
    await saved(http, { name: 'draft', content: 'mine' });
    const before = async (name: string) => (await http.get(`/templates/${name}`)).body;
    const was = { published: await before('published'), draft: await before('draft') };
    const row = (number: number, name: string) => [number, name, '', '', 'text/html', 'imported'];
    const { jobId } = await owner.importRows(caller, start, [
      [row(2, 'published'), row(3, 'draft'), row(4, 'new'), row(5, 'taken up')],
    ]);
    await http.post('/templates/taken%20up/publish');

    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([
      { removed: 1, restored: 2, kept: [{ rowNumber: 5, key: 'taken up', reason: 'ChangedSince' }] },
    ]);

    expect({ published: await before('published'), draft: await before('draft') }).toEqual(was);
    expect((await http.get('/templates/new')).status).toBe(404);
    expect(await before('taken%20up')).toMatchObject({ published: { content: 'imported' } });
    const history = (await http.get('/templates/draft/history')).body.revisions;
    expect(history.map(({ status }: { status: number }) => status)).toEqual([3, 0]);
    expect((await http.post('/templates/draft/publish')).status).toBe(204);
    await saved(http, { name: 'new', content: 'again' });
    expect((await before('new')).draft.content).toBe('again');
  });

  /** The moves that were published, with their former and their new state. */
  const movesOf = async ({ tenantId }: Caller) => {
    const events = await service.db.inTenant(tenantId, (tx) =>
      tx.$queryRawUnsafe<{ payload: Record<string, string> }[]>(
        `SELECT payload FROM outbox WHERE name = 'template.entity-moved' ORDER BY sequence`,
      ),
    );
    return events.map(({ payload }) => [payload['entityId'], payload['previousState'], payload['newState']]);
  };

  it('publishes how an import and its undo move templates that were no drafts', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await published(http, { name: 'published' });
    await saved(http, { name: 'draft' });
    const row = (number: number, name: string) => [number, name, '', '', 'text/html', 'imported'];

    const { jobId } = await owner.importRows(caller, start, [
      [row(2, 'published'), row(3, 'draft'), row(4, 'new')],
    ]);
    await owner.undoImport(caller, { definition, jobId });

    expect(await movesOf(caller)).toEqual([
      ['published', 'Draft', 'Published'],
      ['published', 'Published', 'Draft'],
      ['published', 'Draft', 'Published'],
    ]);
    const gone = await service.db.inTenant(caller.tenantId, (tx) =>
      tx.$queryRawUnsafe<{ payload: unknown }[]>(
        `SELECT payload FROM outbox WHERE name = 'template.entity-gone'`,
      ),
    );
    expect(gone).toEqual([{ payload: { entityType: 'Template', entityIds: ['new'] } }]);
  });

  it('undoes in parts where rows were much larger than those of the file', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const names = Array.from({ length: 8 }, (_, index) => `large-${index}`);
    const content = 'x'.repeat(800_000);
    for (const name of names) await saved(http, { name, content });
    const rows = names.map((name, index) => [index + 2, name, '', '', 'text/html', 'small']);
    const { jobId } = await owner.importRows(caller, start, [rows]);
    const lengths: number[] = [];
    const afterUndo: typeof undoImportedDrafts = (undone, context) => {
      lengths.push(JSON.stringify(undone.restored).length);
      return undoImportedDrafts(undone, context);
    };
    const observed = await openExchangeOwner([serveExchange([{ ...templatesExchange, afterUndo }], service)]);

    const undone = await observed.undoImport(caller, { definition, jobId });
    await observed.close();

    expect(undone).toMatchObject([{ removed: 0, restored: 8, gone: 0, kept: [] }]);
    expect(lengths).not.toHaveLength(0);
    expect(Math.max(...lengths)).toBeLessThan(4.5 * 1024 * 1024);
    expect((await http.get('/templates/large-7')).body.draft.content).toBe(content);
  });

  it('keeps as many revisions of a template as when they are saved over HTTP', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await published(http, { name: 'a', content: 'published' });
    await saved(http, { name: 'b', content: 'other' });
    const importing = async (content: string) =>
      (await owner.importRows(caller, start, [[[2, 'a', '', '', 'text/html', content]]])).jobId;
    await importing('first');
    const revisions = (text: string) =>
      inTenantConnection(service.pool, caller.tenantId, (connection) => connection.query(text));
    await revisions(
      `INSERT INTO template_revision (tenant_id, id, template_id, number, status, mime_type, content, content_length,
         created_at, created_by)
       SELECT tenant_id, gen_random_uuid(), id, n, 3, '', '', 0, now(), '' FROM template, generate_series(3, 600) AS n
       WHERE name = 'a'`,
    );

    const last = await importing('last');

    const { rows } = await revisions(
      `SELECT number FROM template_revision AS r JOIN template AS t ON t.id = r.template_id WHERE t.name = 'a' ORDER BY number`,
    );
    // What is published, the draft that the import replaced, and the newest ones.
    expect(rows.map(({ number }) => number)).toEqual([
      1,
      2,
      ...Array.from({ length: 500 }, (_, at) => 102 + at),
    ]);
    expect((await http.get('/templates/b')).body.draft.content).toBe('other');
    expect(await owner.undoImport(caller, { definition, jobId: last })).toMatchObject([
      { restored: 1, kept: [] },
    ]);
    expect((await http.get('/templates/a')).body.draft.content).toBe('first');
  });

  it('does not undo an import whose former draft is removed since', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saved(http, { name: 'a', content: 'former' });
    const { jobId } = await owner.importRows(caller, start, [[[2, 'a', '', '', 'text/html', 'imported']]]);
    await inTenantConnection(service.pool, caller.tenantId, (connection) =>
      connection.query('DELETE FROM template_revision WHERE number = 1'),
    );

    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([
      { restored: 0, kept: [{ reason: 'Refused' }] },
    ]);
    expect((await http.get('/templates/a')).body.draft.content).toBe('imported');
  });

  it('reports the errors of each row', async () => {
    const { results } = await owner.importRows(aCaller(), start, [
      [
        [2, 'a/b', '', '', 'text/html', 'x'],
        [3, 'c', 'not a culture', '', 'text/html', 'x'],
        [4, 'd', '', 'None', 'text/html', 'x'],
        [5, 'e', '', '', 'html', 'x'],
        [6, 'f', '', '', 'text/html', ''],
        [7, 'g', '', '', 'text/html', 'fine'],
      ],
    ]);

    expect(results).toMatchObject([{ inserted: 1, failed: 5 }]);
    expect(results[0]!.failures.map(({ rowNumber, details }) => [rowNumber, details[0]!.column])).toEqual(
      expect.arrayContaining([
        [2, 'name'],
        [3, 'culture'],
        [4, 'category'],
        [5, 'mimeType'],
        [6, 'content'],
      ]),
    );
  });

  it('imports a deleted template again, and does not export deleted ones', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saved(http, { name: 'a', content: 'first' });
    await http.delete('/templates/a');
    expect(await owner.exportRows(caller, { definition, fields: ['name'] })).toEqual([]);

    await owner.importRows(caller, start, [[[2, 'a', '', '', 'text/html', 'again']]]);

    expect((await http.get('/templates/a')).body.draft.content).toBe('again');
    expect(await movesOf(caller)).toEqual([]);
  });

  it('takes a deleted template for one that does not exist, in each mode', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saved(http, { name: 'a', content: 'first' });
    await http.delete('/templates/a');
    const rows = [[[2, 'a', '', '', 'text/html', 'again']]];
    const importIn = async (mode: 'INSERT' | 'UPDATE', jobId: string) =>
      (await owner.importRows(caller, { ...start, mode, jobId }, rows)).results[0];

    expect(await importIn('UPDATE', newId())).toMatchObject({ inserted: 0, updated: 0, skipped: 1 });
    expect((await http.get('/templates/a')).status).toBe(404);
    expect(await importIn('INSERT', newId())).toMatchObject({ inserted: 1, updated: 0, skipped: 0 });
    expect((await http.get('/templates/a')).body.draft.content).toBe('again');
    expect(await importIn('INSERT', newId())).toMatchObject({ inserted: 0, skipped: 1 });
  });

  it('takes the id of a deleted template for one that is not known, in each mode', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saved(http, { name: 'gone', content: 'first' });
    await saved(http, { name: 'kept', content: 'first' });
    const ids = await owner.exportRows(caller, { definition, fields: ['name'], includeId: true });
    const idOf = (wanted: string) => ids.find(([, name]) => name === wanted)![0];
    await http.delete('/templates/gone');
    const withId = { ...start, columns: ['id', ...columns] };
    const row = (id: unknown, name: string) => [2, id, name, '', '', 'text/html', 'again'];
    const importIn = async (mode: 'INSERT' | 'UPDATE' | 'UPSERT', id: unknown, name: string) =>
      (await owner.importRows(caller, { ...withId, mode, jobId: newId() }, [[row(id, name)]])).results[0]!;

    for (const mode of ['INSERT', 'UPDATE', 'UPSERT'] as const)
      for (const name of ['gone', 'another'])
        expect(await importIn(mode, idOf('gone'), name)).toMatchObject({
          ...{ inserted: 0, updated: 0, skipped: 0, failed: 1 },
          failures: [{ kind: 'Identity', details: [{ column: 'id' }] }],
        });
    expect((await http.get('/templates')).body.items).toMatchObject([{ name: 'kept' }]);
    expect(await importIn('UPSERT', idOf('kept'), 'kept')).toMatchObject({ inserted: 0, updated: 1 });
  });

  it('makes no template of another one by its id: it is published, approved and talked about under its name', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await published(http, { name: 'welcome', content: 'public' });
    const [[id]] = (await owner.exportRows(caller, { definition, fields: ['name'], includeId: true })) as [
      [string],
    ];
    const withId = { ...start, columns: ['id', ...columns] };
    const row = (name: string, culture: string) => [2, id, name, culture, '', 'text/html', 'other'];

    for (const [name, culture, column] of [
      ['invoice', '', 'name'],
      ['welcome', 'fr', 'culture'],
    ] as const) {
      const request = { ...withId, jobId: newId() };
      const { results } = await owner.importRows(caller, request, [[row(name, culture)]]);
      const tried = await owner.importRows(caller, { ...withId, commit: 'NEVER' }, [[row(name, culture)]]);
      expect(results).toMatchObject([
        { updated: 0, failed: 1, failures: [{ kind: 'Identity', details: [{ column }] }] },
      ]);
      expect(tried.results).toEqual(results);
    }

    expect((await http.get('/templates/invoice')).status).toBe(404);
    expect((await http.get('/templates/welcome')).body).toMatchObject({ published: { content: 'public' } });
  });

  it('keeps what an import of an earlier version made of another template when that is undone', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saved(http, { name: 'invoice', content: 'before' });
    const { jobId } = await owner.importRows(caller, start, [[[2, 'invoice', '', '', 'text/html', 'after']]]);
    await service.db.inTenant(caller.tenantId, (tx) =>
      tx.$executeRawUnsafe(
        `UPDATE exchange_former SET former = former || '{"name":"welcome"}' WHERE job_id = $1::uuid`,
        jobId,
      ),
    );

    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([
      { restored: 0, kept: [{ rowNumber: 2, key: 'invoice', reason: 'Refused' }] },
    ]);
    expect((await http.get('/templates/invoice')).body.draft.content).toBe('after');
    expect((await http.get('/templates/welcome')).status).toBe(404);
  });

  it('finds templates by their ids where a file has no column of their culture, which they keep', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    for (const culture of ['fr', 'de']) await saved(http, { name: 'invoice', culture, content: 'before' });
    const fields = ['name', 'content'];
    const exported = await owner.exportRows(caller, { definition, fields, includeId: true });
    const rows = exported.map(([id, name], at) => [at + 2, id, name, 'after']);
    const withId = { ...start, columns: ['id', ...fields] };

    const tried = await owner.importRows(caller, { ...withId, commit: 'NEVER' }, [rows]);
    const { jobId, results } = await owner.importRows(caller, withId, [rows]);

    expect(results).toMatchObject([{ inserted: 0, updated: 2, failed: 0 }]);
    expect(tried.results).toEqual(results);
    const drafts = async () => {
      const get = async (culture: string) => (await http.get(`/templates/invoice?culture=${culture}`)).body;
      return [(await get('fr')).draft.content, (await get('de')).draft.content];
    };
    expect(await drafts()).toEqual(['after', 'after']);
    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([{ restored: 2 }]);
    expect(await drafts()).toEqual(['before', 'before']);
  });

  it('finds the row that a file names twice, by its id and by its key, where a column of the key is missing', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saved(http, { name: 'invoice', content: 'before' });
    await saved(http, { name: 'invoice', culture: 'fr', content: 'before' });
    const fields = ['name', 'culture', 'content'];
    const exported = await owner.exportRows(caller, { definition, fields, includeId: true });
    const idOf = (wanted: string) => exported.find(([, , culture]) => culture === wanted)![0];
    const withId = { ...start, columns: ['id', 'name', 'content'] };

    const { results } = await owner.importRows(caller, withId, [
      [
        [2, newId(), 'invoice', 'x'],
        [3, idOf('fr'), 'invoice', 'x'],
        [4, '', 'invoice', 'x'],
      ],
      [[5, idOf(''), 'invoice', 'x']],
    ]);

    const failures = results.flatMap((one) => one.failures);
    expect(results.map(({ updated, failed }) => [updated, failed])).toEqual([
      [2, 1],
      [0, 1],
    ]);
    expect(failures.map(({ rowNumber, details }) => [rowNumber, details[0]!.code])).toEqual([
      [2, 'Service:Identity:UnknownId'],
      [5, 'Service:Identity:DuplicateKey'],
    ]);
  });

  it('changes nothing in a dry-run', async () => {
    const caller = aCaller();

    const { results, committed } = await owner.importRows(caller, { ...start, commit: 'NEVER' }, [
      [[2, 'a', '', '', 'text/html', 'x']],
    ]);

    expect(results).toMatchObject([{ inserted: 1 }]);
    expect(committed).toBe(false);
    expect((await service.as(caller).get('/templates')).body.totalCount).toBe(0);
  });

  it('requires the permission to manage templates', async () => {
    const reader = aCaller({ permissions: ['Templating.Templates.Read'] });

    await expect(owner.exportRows(reader, { definition, fields: ['name'] })).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});
