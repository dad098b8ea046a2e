import { newId } from '@plinth/kernel/uuid';
import { testServers } from '@plinth/testing/infrastructure';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import pg, { escapeIdentifier } from 'pg';
import { revokeCredentials } from './revoke-credentials';

let databases: Record<'settings' | 'workflow', TestDatabase>;
beforeAll(async () => {
  databases = {
    settings: await createTestDatabase('settings'),
    workflow: await createTestDatabase('workflow'),
  };
});
afterAll(async () => {
  for (const { drop } of Object.values(databases)) await drop();
});

const query = async (
  service: keyof typeof databases,
  statement: string,
  values: unknown[] = [],
): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: databases[service].adminUrl });
  await client.connect();
  try {
    return (await client.query(statement, values)).rows;
  } finally {
    await client.end();
  }
};

/** Acts as somebody who has the rights of the owner of a database, whom row-level security hides its rows from. */
const asOwner = async <T>(service: keyof typeof databases, act: (url: string) => Promise<T>): Promise<T> => {
  const role = `administrator_${newId().replaceAll('-', '')}`;
  const owner = escapeIdentifier(testServers().templates[service]!.ownerRole);
  await query(service, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'; GRANT ${owner} TO ${role}`);
  try {
    const url = new URL(databases[service].adminUrl);
    return await act(Object.assign(url, { username: role, password: 'secret' }).href);
  } finally {
    await query(service, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
};

const isHidden = (service: keyof typeof databases, table: string) =>
  query(
    service,
    'SELECT relrowsecurity AND relforcerowsecurity AS "isHidden" FROM pg_class WHERE oid = $1::regclass',
    [table],
  );

describe('the credentials of a database that was restored', () => {
  it('are no longer accepted where they are API keys in use, whoever runs the command', async () => {
    const [tenantId, id] = [newId(), newId()];
    const insert = (keyId: string, name: string, valid: string, revokedBy: string | null) =>
      query(
        'settings',
        `INSERT INTO api_key (tenant_id, id, key_hash, hint, name, permissions, created_at, created_by, created_by_name,
           expires_at, revoked_at, revoked_by)
         VALUES ($1, $2, $3, '', $3, '{}', now(), 'ada', 'Ada', now() + $4::interval,
           CASE WHEN $5::text IS NOT NULL THEN now() - interval '1 hour' END, $5)`,
        [tenantId, keyId, name, valid, revokedBy],
      );
    await insert(id, 'in use', '1 day', null);
    await insert(newId(), 'expired', '-1 day', null);
    await insert(newId(), 'revoked', '1 day', 'bob');

    const lines = await asOwner('settings', (url) => revokeCredentials('settings', url));

    expect(lines).toEqual([
      `settings: API key ${id} of tenant ${tenantId}, by "ada": revoked`,
      'settings: API keys revoked: 1',
    ]);
    expect(
      await query(
        'settings',
        'SELECT name, revoked_by FROM api_key WHERE revoked_at <= now() ORDER BY revoked_at',
      ),
    ).toEqual([
      { name: 'revoked', revoked_by: 'bob' },
      { name: 'in use', revoked_by: 'restore' },
    ]);
    expect(await isHidden('settings', 'api_key')).toEqual([{ isHidden: true }]);
  });

  it('are gone where they are delegations that are not over, also those that begin later', async () => {
    const tenantId = newId();
    const ids = [newId(), newId()];
    const insert = (id: string, delegate: string, from: string, until: string) =>
      query(
        'workflow',
        `INSERT INTO delegation (tenant_id, id, delegator_id, delegator_name, permissions, delegate_id, from_at, until_at,
           created_at)
         VALUES ($1, $2, 'ada', 'Ada', '{}', $3, now() + $4::interval, now() + $5::interval, now())`,
        [tenantId, id, delegate, from, until],
      );
    await insert(ids[0]!, 'now', '-1 day', '1 day');
    await insert(ids[1]!, 'later', '1 day', '2 days');
    await insert(newId(), 'over', '-2 days', '-1 day');

    const lines = await asOwner('workflow', (url) => revokeCredentials('workflow', url));

    expect(lines.sort()).toEqual(
      [
        ...ids.map((id) => `workflow: delegation ${id} of tenant ${tenantId}, by "ada": removed`),
        'workflow: delegations removed: 2',
      ].sort(),
    );
    expect(await query('workflow', 'SELECT delegate_id FROM delegation')).toEqual([{ delegate_id: 'over' }]);
    expect(await isHidden('workflow', 'delegation')).toEqual([{ isHidden: true }]);
  });
});
