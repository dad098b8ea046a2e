import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineExchange, type ExchangeDefinition } from '@plinth/exchange/definition';
import {
  booleanField,
  dateField,
  enumField,
  integerField,
  numberField,
  textField,
  timestampField,
} from '@plinth/exchange/fields';
import { serveExchange } from '@plinth/exchange/serve-exchange';
import { holds } from '@plinth/kernel/caller';
import { serveGrpc } from '@plinth/runtime/rpc/grpc';
import { silentLog } from '@plinth/runtime/process/log';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { TEST_KEYS } from '@plinth/testing/http';
import { createTestDatabase } from '@plinth/testing/test-database';
import { Client, escapeLiteral } from 'pg';
import { backUp } from './a-backup';

const migrations = join(__dirname, '../../../libs/exchange/migrations');
const ownerTables = readdirSync(migrations)
  .sort()
  .map((name) => readFileSync(join(migrations, name, 'migration.sql'), 'utf8'));

const article = `
  CREATE TABLE article (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    code text COLLATE "C" NOT NULL,
    title text NOT NULL CHECK (title <> 'unacceptable'),
    stock bigint,
    price numeric,
    is_new boolean,
    since date,
    seen_at timestamptz,
    kind text,
    import_job_id uuid,
    import_row integer,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, code)
  );
  ALTER TABLE article ENABLE ROW LEVEL SECURITY;
  ALTER TABLE article FORCE ROW LEVEL SECURITY;
  CREATE POLICY tenant ON article
    USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);`;

export const articles = defineExchange({
  name: 'Shop.Articles',
  entityType: 'Article',
  permission: 'Settings.Tenant.Manage',
  importable: true,
  table: 'article',
  key: ['code'],
  defaultSort: 'code',
  searchable: ['title'],
  rowsAreIndependent: true,
  keysMayChange: true,
  fields: {
    code: textField({
      column: 'code',
      header: 'Code',
      required: true,
      lengthMax: 20,
      synonyms: ['sku', 'article number'],
    }),
    title: textField({
      column: 'title',
      header: 'Title',
      required: true,
      lengthMax: 100,
      aliases: ['label'],
    }),
    stock: integerField({ column: 'stock', header: 'Stock', min: 0 }),
    price: numberField({ column: 'price', header: 'Price' }),
    isNew: booleanField({ column: 'is_new', header: 'New' }),
    since: dateField({ column: 'since', header: 'Since' }),
    seenAt: timestampField({ column: 'seen_at', header: 'Seen at' }),
    kind: enumField({ column: 'kind', header: 'Kind', values: { Food: 'food', Book: 'book' } }),
  },
});

/** Books are for the staff; all others see the rest. */
const journal = defineExchange({
  ...articles,
  name: 'Shop.Journal',
  importable: false,
  visibleTo: (caller) => (holds(caller, 'Timeline.InternalNotes.Read') ? undefined : `t.kind <> 'book'`),
  widerPermission: 'Timeline.InternalNotes.Read',
});

/** A service of some team that owns articles, on a database of its own. */
export async function startShop(moreDefinitions: readonly ExchangeDefinition[] = []) {
  const database = await createTestDatabase('data-exchange');
  const admin = new Client(database.adminUrl);
  await admin.connect();
  // An index that is built while others write is the only statement of its file.
  for (const statements of [article, ...ownerTables]) await admin.query(statements);
  const role = decodeURIComponent(new URL(database.url).username);
  await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "${role}"`);
  const bulkPool = createPool(database.url, silentLog(), { isForBulkWork: true });
  const service = serveExchange([articles, journal, ...moreDefinitions], {
    config: { CALLER_KEYS: TEST_KEYS },
    log: silentLog(),
    bulkPool,
    outbox: { place: () => 0n, wake: () => undefined },
  });
  let server = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [service]);
  const { port } = server;
  return {
    address: `127.0.0.1:${port}`,
    /** Everything stored, whoever it belongs to. */
    rows: async (tenantId: string): Promise<{ code: string; title: string }[]> =>
      (await admin.query('SELECT * FROM article WHERE tenant_id = $1 ORDER BY code', [tenantId])).rows,
    query: (text: string, values: unknown[] = []) => admin.query(text, values),
    backUp: () => backUp(admin),
    /** From now on a batch that adds an article with this code waits before it, until what is returned is called. Once for a shop. */
    hold: async (code: string): Promise<() => Promise<void>> => {
      const holder = new Client(database.adminUrl);
      await holder.connect();
      await holder.query('SELECT pg_advisory_lock(1)');
      await admin.query(
        `CREATE FUNCTION wait_until_released() RETURNS trigger LANGUAGE plpgsql
           AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END';
         CREATE TRIGGER held BEFORE INSERT ON article FOR EACH ROW
           WHEN (NEW.code = ${escapeLiteral(code)}) EXECUTE FUNCTION wait_until_released()`,
      );
      return () => holder.end();
    },
    /** Goes away and comes back under the same address. */
    restart: async (whileAway: () => Promise<void>) => {
      await server.close();
      await whileAway();
      server = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: port }, [service]);
    },
    close: async () => {
      await server.close();
      await bulkPool.end();
      await admin.end();
      await database.drop();
    },
  };
}
