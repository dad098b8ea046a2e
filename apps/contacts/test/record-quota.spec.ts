import { newId } from '@plinth/kernel/uuid';
import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import { eventually } from '@plinth/testing/eventually';
import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { startContacts, type Contacts } from './start-contacts';

const LEDGER_BYTES = 2_500;

describe('the quotas of contacts and companies', () => {
  let service: Contacts;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startContacts({
      environment: {
        CONTACTS_TENANT_RECORDS_MAX: '20',
        EXCHANGE_TENANT_LEDGER_BYTES_MAX: String(LEDGER_BYTES),
      },
    });
    owner = await openExchangeOwner(grpcServices(service));
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  const contact = () => ({ externalId: newId(), lastName: 'Lovelace', channel: 'Email' });
  const company = () => ({ externalId: newId(), name: 'Engines', kind: 'Customer', isActive: true });

  // What is written while rows are counted may count twice, and the first one not at all.
  it('refuse one more contact, also of an import, and leave companies alone', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const first = contact();
    const { body } = await http.post('/contacts', first);
    for (let count = 0; count < 21; count++) await http.post('/contacts', contact());
    const refused = await http.post('/contacts', contact());
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'contacts', scope: 'tenant', limit: 20 } },
    });
    expect((await http.put(`/contacts/${body.id}`, { ...first, lastName: 'King' })).status).toBe(200);
    expect((await http.post('/companies', company())).status).toBe(201);

    const { results } = await owner.importRows(
      caller,
      {
        definition: 'Contacts.Contacts',
        columns: ['externalId', 'lastName', 'channel'],
        mode: 'UPSERT',
        commit: 'EACH_BATCH',
      },
      [[[2, 'P-1', 'Lovelace', 'Email']]],
    );
    expect(results[0]).toMatchObject({
      failed: 1,
      failures: [{ details: [{ code: 'Service:Validation:QuotaExceeded' }] }],
    });
  });

  it.each(['EACH_BATCH', 'ALL_OR_NOTHING'] as const)(
    'let an import begin with what is there now, whatever was refused before: %s',
    async (commit) => {
      const caller = aCaller();
      const http = service.as(caller);
      const companies = Array.from({ length: 25 }, company);
      const responses = await Promise.all(companies.map((one) => http.post('/companies', one)));
      await eventually(async () => (await http.post('/companies', company())).status === 429);
      for (const { status, body } of responses)
        if (status === 201) await http.delete(`/companies/${body.id}`);

      const { results } = await owner.importRows(caller, { ...start, mode: 'UPSERT', commit }, [
        [row(2, newId())],
      ]);
      expect(results[0]).toMatchObject({ inserted: 1 });
    },
  );

  const start = {
    definition: 'Contacts.Companies',
    columns: ['externalId', 'name', 'kind', 'isActive'],
    mode: 'UPDATE' as const,
    commit: 'EACH_BATCH' as const,
  };
  const row = (number: number, externalId: string) => [number, externalId, `${number}`, 'Customer', 'true'];

  const keptOf = async (tenantId: string) =>
    (
      await inTenantConnection(service.pool, tenantId, (connection) =>
        connection.query('SELECT batch_number AS batch, kept_bytes::int AS bytes FROM exchange_batch'),
      )
    ).rows;

  it('end an import where there is no room for more rows as they were', async () => {
    const caller = aCaller();
    const ids = Array.from({ length: 6 }, (_, at) => `C-${at}`);
    for (const externalId of ids) await service.as(caller).post('/companies', { ...company(), externalId });
    await service.ledgerQuota.whenKnown(caller.tenantId, LEDGER_BYTES);
    const rows = ids.map((id, at) => row(at + 2, id));

    await expect(owner.importRows(caller, start, [rows.slice(0, 1), rows.slice(1)])).rejects.toMatchObject({
      kind: 'too-large',
    });

    const [kept, ...more] = await keptOf(caller.tenantId);
    expect([kept.batch, more]).toEqual([1, []]);
    expect(kept.bytes).toBeGreaterThan(400);
    expect(kept.bytes).toBeLessThan(LEDGER_BYTES / 2);
  });

  it('let an import of all rows or none begin with what the ledger has', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => row(at + 2, `none-${at}`));

    const { results } = await owner.importRows(aCaller(), { ...start, commit: 'ALL_OR_NOTHING' }, [rows]);

    expect(results).toMatchObject([{ skipped: 12 }]);
  });

  it('end an import, and a dry-run, where there is no room for more keys of rows that were not written', async () => {
    const caller = aCaller();
    const rows = Array.from({ length: 30 }, (_, at) => row(at + 2, `none-${at}`));
    const importing = (options: object) =>
      owner.importRows(caller, { ...start, ...options }, [rows.slice(0, 1), rows.slice(1)]);

    await expect(importing({})).rejects.toMatchObject({ kind: 'too-large' });
    await expect(importing({ commit: 'NEVER' })).rejects.toMatchObject({ kind: 'too-large' });

    expect(await keptOf(caller.tenantId)).toEqual([{ batch: 1, bytes: 145 }]);
  });
});
