import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { startTemplates, type Templates } from './start-templates';

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
    for (let count = 0; count < 22; count++) await save('letter', `text ${count}`);
    const refused = await save('other', 'text');
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'template-revisions', scope: 'tenant', limit: 20 } },
    });
    expect((await http.post('/templates', { name: 'letter', content: 'text' })).status).toBe(409);
    expect((await http.post('/templates', { name: 'other', content: 'text' })).status).toBe(429);
    expect((await http.post('/templates/letter/publish')).status).toBe(204);
    expect((await service.as(aCaller()).put('/templates/a', { name: 'a', content: 'b' })).status).toBe(201);

    const { results } = await owner.importRows(
      caller,
      {
        definition: 'Templates.Templates',
        columns: ['name', 'content'],
        mode: 'UPSERT',
        commit: 'EACH_BATCH',
      },
      [[[2, 'imported', 'text']]],
    );
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

    const imported = (content: string) =>
      owner.importRows(
        caller,
        {
          definition: 'Templates.Templates',
          columns: ['name', 'content'],
          mode: 'UPSERT',
          commit: 'EACH_BATCH',
        },
        [[[2, 'imported', content]]],
      );
    expect((await imported('x'.repeat(9_000))).results[0]).toMatchObject({
      failures: [{ details: [{ code: 'Service:Validation:QuotaExceeded' }] }],
    });
    expect((await imported('x')).results[0]).toMatchObject({ failed: 0 });
  });
});
