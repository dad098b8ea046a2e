import { once } from 'node:events';
import { hashOfApiKey, isApiKey } from '@plinth/kernel/api-key';
import type { Caller } from '@plinth/kernel/caller';
import { protoPackages } from '@plinth/proto/packages';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { serveGrpc, serviceClient } from '@plinth/runtime/rpc/grpc';
import { eventually } from '@plinth/testing/eventually';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { interruptedDatabase } from '@plinth/testing/interrupted-database';
import { firstRows } from '@plinth/testing/list-requests';
import { Client } from 'pg';
import { grpcServices } from '../src/grpc/server';
import { apiKeyStore } from '../src/store/api-key-store';
import { startSettings, type Settings } from './start-settings';

const PERMISSION = 'DataExchange.Imports.Execute';
const nightly = { name: 'Nightly import', permissions: [PERMISSION] };

let service: Settings;
let closeGrpc: Close;
let address: string;

beforeAll(async () => {
  service = await startSettings();
  const grpc = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, grpcServices(service));
  closeGrpc = grpc.close;
  address = `127.0.0.1:${grpc.port}`;
});
afterAll(async () => {
  await closeGrpc();
  await service.close();
});

const gatewayClient = () => serviceClient('settings', protoPackages.settings.v1.ApiKeys, address, TEST_KEYS);

const find = async (key: string) => {
  const client = gatewayClient();
  const response = await client.call('Find', { hash: hashOfApiKey(key) }, null);
  await client.close();
  return response.key;
};

describe('an API key', () => {
  it('is shown once, to who creates it, and stored as a hash', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const response = await http.post('/api-keys', nightly);
    const { key, ...shown } = response.body;

    expect([response.status, response.headers.get('location')]).toEqual([
      201,
      expect.stringMatching(new RegExp(`/api-keys/${shown.id}$`)),
    ]);
    expect(isApiKey(key)).toBe(true);
    expect(shown).toMatchObject({
      ...nightly,
      hint: key.slice(0, 11),
      createdBy: caller.userId,
      createdByName: caller.userName,
      lastUsedAt: null,
      revokedAt: null,
    });
    expect((await http.get(`/api-keys/${shown.id}`)).body).toEqual(shown);
    expect((await http.get('/api-keys')).body.items).toEqual([shown]);

    const database = new Client(service.databaseUrl);
    await database.connect();
    await database.query(`SELECT set_config('plinth.scope', 'platform', false)`);
    const { rows } = await database.query(
      `SELECT (SELECT string_agg(k::text, '') FROM api_key k) || (SELECT string_agg(o::text, '') FROM outbox o)
         || coalesce((SELECT string_agg(e::text, '') FROM executed_operation e), '') AS everything`,
    );
    await database.end();
    expect(rows[0].everything).toContain(shown.hint);
    expect(rows[0].everything).not.toContain(key);
  });

  it('has no permission that its creator does not have, and none by a wildcard', async () => {
    const caller = aCaller({ permissions: ['Platform.ApiKeys.Manage', PERMISSION] });
    const http = service.as(caller);
    const more = await http.post('/api-keys', {
      ...nightly,
      permissions: [PERMISSION, 'Workflow.History.Read'],
    });

    expect([more.status, more.body.detail]).toEqual([403, 'You do not have Workflow.History.Read yourself.']);
    expect((await http.post('/api-keys', { ...nightly, permissions: ['*'] })).status).toBe(422);
    expect((await http.post('/api-keys', { ...nightly, permissions: [] })).status).toBe(422);
    expect((await http.post('/api-keys', nightly)).status).toBe(201);
  });

  it('may have a permission that the platform does not know, such as one of a workflow definition', async () => {
    const permissions = ['Invoices.Payments.Release'];
    const holder = aCaller({ permissions: ['Platform.ApiKeys.Manage', ...permissions] });
    expect((await service.as(holder).post('/api-keys', { ...nightly, permissions })).status).toBe(201);
  });

  it('is neither created nor revoked with an API key', async () => {
    const caller = aCaller();
    const { id } = (await service.as(caller).post('/api-keys', nightly)).body;
    const withKey = service.as({ ...caller, apiKeyId: id });

    expect((await withKey.post('/api-keys', nightly)).status).toBe(403);
    expect((await withKey.delete(`/api-keys/${id}`)).status).toBe(403);
    expect((await service.as(caller).delete(`/api-keys/${id}`)).status).toBe(204);
  });

  it('is created once for an operation, and not shown again to its retry', async () => {
    const caller = aCaller({ operationId: 'one' });
    const { id } = (await service.as(caller).post('/api-keys', nightly)).body;
    const retry = await service.as(caller).post('/api-keys', nightly);

    expect([retry.status, retry.text]).toEqual([409, expect.stringContaining(id)]);
    expect(retry.text).not.toMatch(/plinth_[0-9A-Za-z]/);
    expect((await service.as(caller).get('/api-keys')).body.totalCount).toBe(1);
  });

  it('of another tenant does not exist', async () => {
    const { id } = (await service.as(aCaller()).post('/api-keys', nightly)).body;
    const foreign = service.as(aCaller());

    expect((await foreign.get(`/api-keys/${id}`)).status).toBe(404);
    expect((await foreign.delete(`/api-keys/${id}`)).status).toBe(404);
    expect((await foreign.get('/api-keys')).body.items).toEqual([]);
  });

  it('is listed page by page, newest first', async () => {
    const http = service.as(aCaller());
    for (const name of ['one', 'two', 'three']) await http.post('/api-keys', { ...nightly, name });
    const first = (await http.get('/api-keys?cursor=&pageSize=2')).body;
    const second = (await http.get(`/api-keys?cursor=${encodeURIComponent(first.nextCursor)}&pageSize=2`))
      .body;

    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(['three', 'two', 'one']);
  });

  it('is listed with the number of all as they are at one instant, also where one is created meanwhile', async () => {
    const caller = aCaller();
    const create = () => service.as(caller).post('/api-keys', nightly);
    await create();
    const list = firstRows('createdAt', true, { wantsTotalCount: true });
    const store = apiKeyStore(interruptedDatabase(service.db, 'apiKey.count', create));

    const { rows, totalCount } = await store.list(caller.tenantId, list);

    expect([rows.length, totalCount]).toEqual([1, 1]);
  });

  it('is found by the gateway with its user, tenant and permissions, and its use is recorded', async () => {
    const caller = aCaller();
    const { key, id, createdAt } = (await service.as(caller).post('/api-keys', nightly)).body;

    expect(await find(key)).toMatchObject({
      id,
      tenantId: caller.tenantId,
      userId: caller.userId,
      userName: caller.userName,
      permissions: [PERMISSION],
      isRevoked: false,
    });
    const { lastUsedAt } = (await service.as(caller).get(`/api-keys/${id}`)).body;
    expect(Date.parse(lastUsedAt)).toBeGreaterThanOrEqual(Date.parse(createdAt));
    expect(await find(`${key}x`)).toBeUndefined();
  });

  it('that is revoked says when and by whom, and every gateway that watches is told', async () => {
    const caller = aCaller();
    const { key, id } = (await service.as(caller).post('/api-keys', nightly)).body;
    const gateway = gatewayClient();
    const stream = gateway.client.WatchRevocations({}, gateway.identity('WatchRevocations', null));
    stream.on('error', () => undefined);
    const revoked: (string | undefined)[] = [];
    await once(stream, 'data');
    stream.on('data', (message: { id?: string }) => revoked.push(message.id));

    // It is told as it is stored.
    expect((await service.as(caller).delete(`/api-keys/${id.toUpperCase()}`)).status).toBe(204);
    expect((await service.as(caller).delete(`/api-keys/${id}`)).status).toBe(204);

    await eventually(() => revoked.includes(id));
    expect(await find(key)).toMatchObject({ isRevoked: true });
    expect((await service.as(caller).get(`/api-keys/${id}`)).body).toMatchObject({
      revokedAt: expect.any(String),
      revokedBy: caller.userId,
    });
    stream.cancel();
    await gateway.close();
  });

  it('is looked up for the platform only, not for a caller', async () => {
    const client = gatewayClient();
    await expect(client.call('Find', { hash: 'x' }, aCaller())).rejects.toMatchObject({ kind: 'forbidden' });
    await client.close();
  });

  it('is created up to 200 times in a tenant, not counting those that were revoked', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const { id } = (await http.post('/api-keys', nightly)).body;
    await copyKeys(caller, 199, 'expires_at');

    const refused = await http.post('/api-keys', nightly);
    expect([refused.status, refused.body.quota]).toMatchObject([429, { name: 'api-keys', limit: 200 }]);
    await http.delete(`/api-keys/${id}`);
    expect((await http.post('/api-keys', nightly)).status).toBe(201);
  });

  it('that is over is listed while there are fewer than 1,000 newer ones', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const { id } = (await http.post('/api-keys', nightly)).body;
    await copyKeys(caller, 1_200, `now() - interval '1 second'`);
    const added = (await http.post('/api-keys', nightly)).body;

    expect((await http.get('/api-keys?limit=1')).body.totalCount).toBe(1_001);
    expect((await http.get(`/api-keys/${id}`)).status).toBe(200);
    expect((await http.get(`/api-keys/${added.id}`)).status).toBe(200);
  });

  /** Adds copies of the keys of a tenant, which are over at another time. */
  async function copyKeys({ tenantId }: Caller, count: number, expiresAt: string): Promise<void> {
    const database = new Client(service.databaseUrl);
    await database.connect();
    await database.query(`SELECT set_config('plinth.tenant_id', $1, false)`, [tenantId]);
    await database.query(
      `INSERT INTO api_key (tenant_id, id, key_hash, hint, name, permissions, created_at, created_by, created_by_name, expires_at)
       SELECT tenant_id, gen_random_uuid(), gen_random_uuid(), hint, name, permissions,
         created_at + number * interval '1 millisecond', created_by, created_by_name, ${expiresAt}
       FROM api_key, generate_series(1, ${count}) AS number WHERE tenant_id = $1`,
      [tenantId],
    );
    await database.end();
  }
});
