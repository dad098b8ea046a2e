import { defineExchange } from '@plinth/exchange/definition';
import { integerField, numberField, textField } from '@plinth/exchange/fields';
import { serveExchange } from '@plinth/exchange/serve-exchange';
import { newId } from '@plinth/kernel/uuid';
import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller } from '@plinth/testing/http';
import { Client } from 'pg';
import { startContacts, type Contacts } from './start-contacts';

const table = `
  CREATE TABLE lot (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    number bigint NOT NULL,
    weight numeric NOT NULL,
    title text NOT NULL,
    import_job_id uuid,
    import_row integer,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, number, weight)
  );
  ALTER TABLE lot ENABLE ROW LEVEL SECURITY;
  ALTER TABLE lot FORCE ROW LEVEL SECURITY;
  CREATE POLICY tenant ON lot
    USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);`;

const lots = defineExchange({
  name: 'Auction.Lots',
  entityType: 'Lot',
  permission: 'Contacts.Contacts.Manage',
  importable: true,
  table: 'lot',
  key: ['weight', 'number'],
  defaultSort: 'number',
  searchable: ['title'],
  fields: {
    number: integerField({ column: 'number', header: 'Number' }),
    weight: numberField({ column: 'weight', header: 'Weight' }),
    title: textField({ column: 'title', header: 'Title', lengthMax: 20 }),
  },
});
const start = { definition: 'Auction.Lots', mode: 'UPSERT', commit: 'EACH_BATCH' } as const;

describe('rows whose keys are numbers', () => {
  let contacts: Contacts;
  let owner: ExchangeOwner;
  let admin: Client;

  beforeAll(async () => {
    contacts = await startContacts();
    admin = new Client({ connectionString: contacts.database!.adminUrl });
    await admin.connect();
    await admin.query(table);
    const role = decodeURIComponent(new URL(contacts.databaseUrl).username);
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON lot TO "${role}"`);
    owner = await openExchangeOwner([serveExchange([lots], contacts)]);
  });
  afterAll(async () => {
    await owner.close();
    await admin.end();
    await contacts.close();
  });

  /** Stores a lot; returns its id. */
  async function aLot(tenantId: string, number: string, weight: string): Promise<string> {
    const id = newId();
    await admin.query(
      `INSERT INTO lot (tenant_id, id, number, weight, title) VALUES ($1, $2, $3, $4, 'old')`,
      [tenantId, id, number, weight],
    );
    return id;
  }
  const stored = async (tenantId: string) =>
    (await admin.query('SELECT number, weight, title FROM lot WHERE tenant_id = $1', [tenantId])).rows;

  it.each([
    ['more digits than a double has', '9007199254740993', '12345678901234567890.10'],
    ['few digits', '7', '1.50'],
  ])('keep them, with %s, where a file names the rows by their ids only', async (_what, number, weight) => {
    const caller = aCaller();
    const id = await aLot(caller.tenantId, number, weight);

    const { results } = await owner.importRows(caller, { ...start, columns: ['id', 'title'] }, [
      [[2, id, 'new']],
    ]);

    expect(results).toMatchObject([{ updated: 1, failed: 0, failures: [] }]);
    expect(await stored(caller.tenantId)).toEqual([{ number, weight, title: 'new' }]);
  });

  it.each([
    ['weight', '7', '2.5'],
    ['number', '8', '1.5'],
  ])('are refused with the column of the key that differs: %s', async (column, number, weight) => {
    const caller = aCaller();
    const id = await aLot(caller.tenantId, '7', '1.50');

    const { results } = await owner.importRows(
      caller,
      { ...start, columns: ['id', 'number', 'weight', 'title'] },
      [[[2, id, number, weight, 'new']]],
    );

    expect(results[0]!.failures).toMatchObject([
      { details: [{ code: 'Service:Identity:OtherKey', column }] },
    ]);
  });

  it('are the same however many zeros end them', async () => {
    const caller = aCaller();
    await aLot(caller.tenantId, '7', '1.50');

    const { results } = await owner.importRows(
      caller,
      { ...start, mode: 'UPDATE', columns: ['number', 'weight', 'title'] },
      [
        [
          [2, '7', '1.5', 'new'],
          [3, '7', '1.500', 'newer'],
        ],
      ],
    );

    expect(results[0]).toMatchObject({ updated: 1, skipped: 0, failed: 1 });
    expect(results[0]!.failures).toMatchObject([{ details: [{ code: 'Service:Identity:DuplicateKey' }] }]);
    expect(await stored(caller.tenantId)).toEqual([{ number: '7', weight: '1.50', title: 'new' }]);
  });
});
