import { serveExchange } from '@plinth/exchange/serve-exchange';
import { excessiveReads, ROWS, rowId } from '@plinth/testing/exchange-plans';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import type { Client } from 'pg';
import { companiesExchange } from '../src/exchange/companies';
import { contactsExchange } from '../src/exchange/contacts';
import { startContacts, type Contacts } from './start-contacts';

const fillCompanies = (admin: Client, tenantId: string, rowCount: number) =>
  admin.query(
    `INSERT INTO company (tenant_id, id, external_id, name, kind, is_active, created_by, changed_by)
     SELECT $1, ${rowId.sql}, 'C-' || n, 'Analytical Engines', 'Customer', true, 'somebody', 'somebody'
     FROM generate_series(1, $2::int) AS n`,
    [tenantId, rowCount],
  );

describe('imports, exports and undos of contacts and companies', () => {
  let service: Contacts;
  beforeEach(async () => {
    service = await startContacts();
  });
  afterEach(() => service.close());

  const measured = () => ({
    database: { url: service.databaseUrl, adminUrl: service.database!.adminUrl },
    services: (pool: FairPool) => [
      serveExchange([companiesExchange, contactsExchange], { ...service, bulkPool: pool }),
    ],
  });

  it('read no more companies than they are asked for, whatever the statistics know', async () => {
    const excessive = await excessiveReads({
      ...measured(),
      definition: 'Contacts.Companies',
      columns: ['externalId', 'name', 'kind', 'isActive'],
      cellsOf: (number, text) => [`C-${number}`, text, 'Customer', 'true'],
      fill: fillCompanies,
    });

    expect(excessive).toEqual([]);
  });

  it('read no more contacts and related companies than they are asked for, whatever the statistics know', async () => {
    const excessive = await excessiveReads({
      ...measured(),
      definition: 'Contacts.Contacts',
      columns: ['externalId', 'lastName', 'channel', 'company.externalId'],
      cellsOf: (number, text) => [
        `P-${number}`,
        text,
        'Post',
        number % 2 === 0 ? '' : `C-${(number % ROWS) + 1}`,
      ],
      fill: async (admin, tenantId, rowCount) => {
        await fillCompanies(admin, tenantId, rowCount);
        await admin.query(
          `INSERT INTO contact (tenant_id, id, external_id, last_name, channel, created_by, changed_by, company_id)
           SELECT $1, ${rowId.sql}, 'P-' || n, 'Lovelace', 'Post', 'somebody', 'somebody', ${rowId.sql}
           FROM generate_series(1, $2::int) AS n`,
          [tenantId, rowCount],
        );
      },
    });

    expect(excessive).toEqual([]);
  });
});
