import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { testServers } from '@plinth/testing/infrastructure';
import { newId } from '@plinth/kernel/uuid';
import { Client } from 'pg';

interface Table {
  name: string;
  forced: boolean;
  policies: number;
  policiesThatCheckWrites: number;
}

const TABLES = `
  SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
    count(p.oid)::int AS policies,
    count(p.oid) FILTER (WHERE p.polwithcheck IS NOT NULL)::int AS "policiesThatCheckWrites"
  FROM pg_class c
  LEFT JOIN pg_policy p ON p.polrelid = c.oid
  WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND c.relname <> '_prisma_migrations'
    AND NOT c.relispartition
  GROUP BY c.oid`;

const connected = async <Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

describe.each(Object.keys(testServers().templates))('the database of %s', (service) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase(service);
  });
  afterAll(() => database.drop());

  it('begins every table and every key with the tenant', async () => {
    const { rows } = await connected(database.adminUrl, (client) =>
      client.query(`
        SELECT c.relname AS name FROM pg_class c
        WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND c.relname <> '_prisma_migrations'
          AND NOT c.relispartition
          AND (NOT EXISTS (SELECT FROM pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attnum = 1 AND a.attname = 'tenant_id' AND a.attnotnull)
            OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indkey[0] <> 1))`),
    );
    expect(rows).toEqual([]);
  });

  it('forces row-level security, for readers and for writers, on every table', async () => {
    const { rows } = await connected(database.adminUrl, (client) => client.query<Table>(TABLES));
    expect(rows.length).toBeGreaterThan(0);
    const open = rows.filter((table) => !table.forced || table.policiesThatCheckWrites === 0);
    expect(open).toEqual([]);
  });

  it('lets views read with the rights of who asks them', async () => {
    const { rows } = await connected(database.adminUrl, (client) =>
      client.query(`
        SELECT relname AS name FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace
          AND NOT COALESCE(reloptions, '{}') @> ARRAY['security_invoker=true']`),
    );
    expect(rows).toEqual([]);
  });

  it('is entered by a role that cannot step over it', async () => {
    const { rows } = await connected(database.url, (client) =>
      client.query(`
        SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
          (SELECT count(*)::int FROM pg_class WHERE relowner = r.oid) AS owned
        FROM pg_roles r WHERE rolname = current_user`),
    );
    expect(rows).toEqual([
      { rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false, owned: 0 },
    ]);
  });

  it('shows a row to its tenant and to nobody else, even where a query forgets to ask for the tenant', async () => {
    const tenantId = newId();
    await connected(database.adminUrl, (client) =>
      client.query(
        `INSERT INTO outbox (tenant_id, id, name, subject, payload) VALUES ($1, $2, 'test', 'test', '{}')`,
        [tenantId, newId()],
      ),
    );
    await connected(database.url, async (client) => {
      const rowsOf = async (tenant: string) => {
        await client.query(`SELECT set_config('plinth.tenant_id', $1, false)`, [tenant]);
        return (await client.query('SELECT tenant_id FROM outbox')).rows;
      };
      expect(await rowsOf('')).toEqual([]);
      expect(await rowsOf(newId())).toEqual([]);
      expect(await rowsOf(tenantId)).toEqual([{ tenant_id: tenantId }]);
      await client.query(`SELECT set_config('plinth.tenant_id', $1, false)`, [newId()]);
      await expect(
        client.query(
          `INSERT INTO outbox (tenant_id, id, name, subject, payload) VALUES ($1, $2, 'test', 'test', '{}')`,
          [tenantId, newId()],
        ),
      ).rejects.toThrow('row-level security');
    });
  });
});
