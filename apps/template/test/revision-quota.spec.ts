import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import { eventually } from '@plinth/testing/eventually';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { published, startTemplates, type Templates } from './start-templates';

const importing = {
  definition: 'Templates.Templates',
  columns: ['name', 'content'],
  mode: 'UPSERT' as const,
  commit: 'EACH_BATCH' as const,
};

/** Imports rows as a worker does, which tries again where nobody knows yet whether there is room. */
function imported(owner: ExchangeOwner, caller: Caller, rows: readonly unknown[][]) {
  const start = { ...importing, jobId: newId() };
  return eventually(() => owner.importRows(caller, start, [rows]));
}

describe('the quota of revisions of templates', () => {
  let service: Templates;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startTemplates({ TEMPLATE_TENANT_REVISIONS_MAX: '20' });
    owner = await openExchangeOwner(grpcServices(service));
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  // What is written while rows are counted may count twice.
  it('refuses saving and importing beyond it, and publishes what is there', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const save = (name: string, content: string) => http.put(`/templates/${name}`, { name, content });
    // Of two templates, so that neither has revisions which it can spare.
    for (let count = 0; count < 22; count++) await save(count % 2 === 0 ? 'letter' : 'note', `text ${count}`);
    const refused = await save('other', 'text');
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'template-revisions', scope: 'tenant', limit: 20 } },
    });
    expect((await http.post('/templates', { name: 'letter', content: 'text' })).status).toBe(409);
    expect((await http.post('/templates', { name: 'other', content: 'text' })).status).toBe(429);
    expect((await http.post('/templates/letter/publish')).status).toBe(204);
    expect((await service.as(aCaller()).put('/templates/a', { name: 'a', content: 'b' })).status).toBe(201);

    const { results } = await imported(owner, caller, [[2, 'imported', 'text']]);
    expect(results[0]).toMatchObject({
      failed: 1,
      failures: [{ details: [{ code: 'Service:Validation:QuotaExceeded' }] }],
    });
  });
});

describe('the quota of characters in templates', () => {
  let service: Templates;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startTemplates({ TEMPLATE_TENANT_CHARACTERS_MAX: '10000' });
    owner = await openExchangeOwner(grpcServices(service));
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  it('has no more room after another body for an operation was refused', async () => {
    const caller = aCaller();
    const create = (name: string, operationId?: string) =>
      service
        .as({ ...caller, ...(operationId && { operationId }) })
        .post('/templates', { name, content: 'x'.repeat(1_000) });
    const operationId = newId();
    expect((await create(newId(), operationId)).status).toBe(201);
    expect((await create(newId())).status).toBe(201);
    for (let count = 0; count < 5; count++)
      expect((await create(newId(), operationId)).status).toBeGreaterThan(400);
    const statuses: number[] = [];
    for (let count = 0; count < 10; count++) statuses.push((await create(newId())).status);
    // What is written while characters are counted may count twice.
    expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(8);
  });

  it('refuses texts that have no room, and accepts those that have', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const save = (content: string) => http.put('/templates/letter', { name: 'letter', content });
    expect((await save('x'.repeat(6_000))).status).toBe(201);
    const refused = await save('y'.repeat(9_000));
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'template-characters', scope: 'tenant', limit: 10_000 } },
    });
    expect((await save('z')).status).toBe(200);

    const importText = (content: string) => imported(owner, caller, [[2, 'imported', content]]);
    expect((await importText('x'.repeat(9_000))).results[0]).toMatchObject({
      failures: [{ details: [{ code: 'Service:Validation:QuotaExceeded' }] }],
    });
    expect((await importText('x')).results[0]).toMatchObject({ failed: 0 });
  });
});

describe.each([
  ['revisions', { TEMPLATE_TENANT_REVISIONS_MAX: '40' }],
  ['characters', { TEMPLATE_TENANT_CHARACTERS_MAX: '40000' }],
])('a tenant whose quota of %s is used up', (_of, environment) => {
  let service: Templates;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startTemplates(environment);
    owner = await openExchangeOwner(grpcServices(service));
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  const { definition } = importing;
  const text = (count: number) => String(count).padEnd(1_000, 'x');
  const save = (http: TestClient, name: string, more: object = {}) =>
    http.put(`/templates/${name}`, { name, content: text(0), ...more });
  /** Saves a template, for which there is no room at first. */
  const saveLater = (http: TestClient, name = 'other') =>
    eventually(async () => (await save(http, name)).status < 300);
  /** Saves texts of a template until there is no room for another one, and then that. */
  const saveMany = async (http: TestClient, name: string) => {
    for (let count = 0; ; count++) {
      const { status } = await save(http, name, { content: text(count) });
      if (status === 429) break;
      expect(count).toBeLessThan(40);
    }
    await saveLater(http, name);
  };
  const others = Array.from({ length: 30 }, (_, index) => `other-${index}`);
  const importTexts = (caller: Caller, names: readonly string[]) =>
    imported(
      owner,
      caller,
      names.map((name, index) => [index + 2, name, text(index)]),
    );
  /** The numbers of the revisions of each template, gone ones included. */
  const numbersOf = async ({ tenantId }: Caller): Promise<Record<string, number[]>> => {
    const { rows } = await inTenantConnection(service.pool, tenantId, (connection) =>
      connection.query<{ name: string; numbers: number[] }>(
        `SELECT name, array_remove(array_agg(r.number ORDER BY r.number), NULL) AS numbers
         FROM template AS t LEFT JOIN template_revision AS r ON r.template_id = t.id GROUP BY name`,
      ),
    );
    return Object.fromEntries(rows.map(({ name, numbers }) => [name, numbers]));
  };

  it('has room again after a template was deleted, and may make that again', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saveMany(http, 'letter');
    expect((await http.delete('/templates/letter')).status).toBe(204);

    for (const name of others) await saveLater(http, name);

    expect(Object.keys(await numbersOf(caller)).sort()).toEqual(others.toSorted());
    expect((await save(http, 'letter')).status).toBe(201);
    expect((await http.get('/templates/letter/history')).body.totalCount).toBe(1);
  });

  it('still requires approval of a template that was deleted', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await save(http, 'letter', { requiresApproval: true });
    await saveMany(http, 'letter');
    await http.delete('/templates/letter');

    for (const name of others) await saveLater(http, name);

    const { letter } = await numbersOf(caller);
    expect(letter).toHaveLength(1);
    await save(http, 'letter');
    expect((await http.post('/templates/letter/publish')).status).toBe(409);
  });

  it('has room again after an import was undone', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const names = Array.from({ length: 40 }, (_, index) => `imported-${index}`);
    const { jobId, results } = await importTexts(caller, names);
    expect(results).toMatchObject([{ inserted: 40 }]);
    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([{ removed: 40 }]);

    await saveLater(http);

    expect(Object.keys(await numbersOf(caller)).length).toBeLessThan(40);
  });

  it('has room again for an import, which is executed once there is', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await saveMany(http, 'letter');
    await http.delete('/templates/letter');

    const { results } = await importTexts(caller, ['imported']);

    expect(results).toMatchObject([{ inserted: 1, failed: 0 }]);
  });

  it('forgets the oldest revisions of a template, and nothing that is in use', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await published(http, { name: 'letter', content: text(1) });
    await save(http, 'letter', { content: text(2) });
    for (let count = 3; count < 39; count++) {
      const { jobId } = await importTexts(caller, ['letter']);
      await owner.undoImport(caller, { definition, jobId });
    }
    const { jobId } = await importTexts(caller, ['letter']);
    await save(http, 'full');

    await saveLater(http);

    const { letter } = await numbersOf(caller);
    const newest = Array.from({ length: 20 }, (_, index) => letter!.at(-1)! - 19 + index);
    expect(letter!.slice(0, 2)).toEqual([1, 2]);
    expect(letter!.slice(-20)).toEqual(newest);
    expect(letter!.length).toBeLessThan(39);
    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([{ restored: 1, kept: [] }]);
    expect((await http.get('/templates/letter')).body).toMatchObject({
      draft: { content: text(2) },
      published: { content: text(1) },
    });
    expect((await http.post('/templates/letter/publish')).status).toBe(204);
  });

  it('passes over a template that somebody changes, and does not wait for it', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await save(http, 'changed');
    await saveMany(http, 'letter');
    await http.delete('/templates/changed');
    await http.delete('/templates/letter');

    await inTenantConnection(service.pool, caller.tenantId, async (connection) => {
      await connection.query(`SELECT FROM template WHERE name = 'changed' FOR UPDATE`);
      for (const name of others) await saveLater(http, name);
    });

    expect(Object.keys(await numbersOf(caller)).sort()).toEqual(['changed', ...others].sort());
  });

  it('loses nothing that is saved, deleted and made again while room is made', async () => {
    const http = service.as(aCaller());
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        let last: string | undefined;
        for (let count = 0; count < 60; count++) {
          const isDeletion = count % 20 === 19;
          const content = isDeletion ? undefined : text(count);
          const { status } = await (isDeletion
            ? http.delete(`/templates/${name}`)
            : save(http, name, { content }));
          expect([200, 201, 204, 404, 429]).toContain(status);
          if (status < 300) last = content;
        }
        const { status, body } = await http.get(`/templates/${name}`);
        expect(status === 200 ? body.draft.content : undefined).toBe(last);
      }),
    );
  });

  it('stays without room where all is in use', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const names = Array.from({ length: 40 }, (_, index) => `used-${index}`);
    await importTexts(caller, names);
    for (let count = 0; count < 5; count++) expect((await save(http, 'other')).status).toBe(429);

    expect(Object.keys(await numbersOf(caller))).toHaveLength(40);
  });
});
