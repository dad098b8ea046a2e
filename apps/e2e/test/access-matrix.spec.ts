import { allEndpoints } from '@plinth/contracts/all';
import { accessOf, type Access, type Endpoint } from '@plinth/contracts/endpoint';
import { permissions } from '@plinth/contracts/permissions';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import type { Client } from 'pg';
import { connectToDatabase } from './databases';
import { callsOf, fill, sample, type Call, type OpenApi } from './open-api';
import { startJourney, type Journey } from './platform';

/** An operation with its rule of access, as the contract has it. */
interface Operation {
  service: string;
  endpoint: Endpoint;
  call: Call;
  access: Access;
}

const tenantId = newId();
let journey: Journey;
let document: OpenApi;
let operations: Operation[];
/** Of a row that exists, in place of the sample of an id. */
let contactId: string;
/** It may do one thing only, although its user may do everything. */
let apiKey: string;
let clients: { name: string; client: Client }[] = [];

beforeAll(async () => {
  journey = await startJourney();
  document = (await journey.call('GET', '/openapi.json')).body;
  operations = operationsOf(callsOf(document));
  clients = await Promise.all(
    Object.keys(allEndpoints).map(async (name) => ({ name, client: await connectToDatabase(journey, name) })),
  );
  await writeSomething();
});
afterAll(() => Promise.all(clients.map(({ client }) => client.end())));

function operationsOf(calls: Call[]): Operation[] {
  return Object.entries(allEndpoints).flatMap(([service, endpoints]) =>
    Object.values(endpoints as Record<string, Endpoint>).flatMap((endpoint) => {
      const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
      const call = calls.find((one) => one.method === endpoint.method && one.path.endsWith(path));
      if (!call) return [];
      const values = Object.fromEntries(
        call.parameters
          .filter((parameter) => parameter.in === 'path')
          .map(({ name, schema }) => [name, String(sample(schema, document))]),
      );
      return [{ service, endpoint, call, access: accessOf(endpoint.access, values) }];
    }),
  );
}

/** A hash of everything that the tenant has in each table. */
async function contentOfTenant(): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const { name, client } of clients) {
    const { rows: tables } = await client.query<{ table_name: string }>(
      `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id'
         AND table_name NOT IN ('outbox', 'inbox', 'operation')`,
    );
    for (const { table_name } of tables) {
      const { rows } = await client.query<{ hash: string | null }>(
        // When an API key was used last is not of the tenant's making.
        `SELECT md5(string_agg(row, '|' ORDER BY row)) AS hash
         FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM "${table_name}" t WHERE tenant_id = $1) rows`,
        [tenantId],
      );
      if (rows[0]!.hash !== null) content[`${name}.${table_name}`] = rows[0]!.hash;
    }
  }
  return content;
}

const samplePath = (name: string) => encodeURIComponent(String(name));

/** Rows of the tenant under the names that the calls use, so that there is something to read and to change. */
async function writeSomething(): Promise<void> {
  const token = await journey.tokenOf({ sub: 'ada', tenantId });
  const name = samplePath(String(sample({ type: 'string' }, document)));
  const put = (path: string, body: unknown) => journey.call('PUT', `/api/v1${path}`, { token, body });
  const post = (path: string, body: unknown) => journey.call('POST', `/api/v1${path}`, { token, body });
  await put(`/templates/${name}`, { content: 'private' });
  await post('/template-categories', { name: 'private' });
  await put('/settings/user/Service.Timing.PreferredTimezone', { value: 'Europe/Paris' });
  await put('/settings/tenant/Service.Timing.PreferredTimezone', { value: 'Europe/Paris' });
  const contact = await post('/contacts', { externalId: 'P-1', lastName: 'Person', channel: 'Post' });
  contactId = contact.body.id;
  const key = await post('/api-keys', { name: 'limited', permissions: ['Platform.ApiKeys.Manage'] });
  apiKey = key.body.key;
  // What services tell each other of it is there as well.
  for (const path of [`/timeline/Contact/${contactId}`, '/timeline/Setting/Service.Timing.PreferredTimezone'])
    await eventually(
      async () => (await journey.call('GET', `/api/v1${path}`, { token })).body.totalCount === 1,
    );
}

const sampleId = () => String(sample({ type: 'string', format: 'uuid' }, document));

const send = ({ call }: Operation, token?: string) =>
  journey.call(call.method, fill(call, document).replaceAll(sampleId(), contactId), {
    ...(token === undefined ? {} : { token }),
    ...(call.body === undefined ? {} : { body: sample(call.body, document) }),
  });

/** The operations whose status is not as expected. */
async function exceptions(
  token: string | undefined,
  chosen: Operation[],
  isExpected: (status: number) => boolean,
): Promise<string[]> {
  const pending = [...chosen];
  const found: string[] = [];
  const work = async () => {
    for (let operation = pending.shift(); operation; operation = pending.shift()) {
      const { status } = await send(operation, token);
      if (!isExpected(status)) found.push(`${operation.call.name}: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return found;
}

let before: Record<string, string>;
beforeAll(async () => {
  before = await contentOfTenant();
});
afterEach(async () => expect(await contentOfTenant()).toEqual(before));

const guarded = () => operations.filter(({ access }) => access.type === 'permission');
const areaOf = (permission: string) => permission.split('.', 1)[0];

describe('every operation of the contracts changes nothing of a tenant', () => {
  it('and knows its rule of access', () => {
    const endpoints = Object.values(allEndpoints).flatMap((area) => Object.values(area));
    expect(operations.length).toBe(endpoints.length);
    expect(guarded().length).toBeGreaterThan(60);
    expect(Object.keys(before).length).toBeGreaterThan(3);
    expect(contactId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('without a credential, with one that has expired, or with one of nobody', async () => {
    const chosen = operations.filter(({ access }) => !['anonymous', 'optional'].includes(access.type));
    expect(await exceptions(undefined, chosen, (status) => status === 401)).toEqual([]);
    const expired = await journey.tokenOf({ sub: 'ada', tenantId, expiresInSeconds: -120 });
    expect(await exceptions(expired, chosen, (status) => status === 401)).toEqual([]);
  });

  it('without its permission', async () => {
    const token = await journey.tokenOf({ sub: 'bob', tenantId, roles: [], permissions: [] });
    expect(await exceptions(token, guarded(), (status) => status === 403)).toEqual([]);
  });

  it('with all permissions of the other areas', async () => {
    const found: string[] = [];
    const areas = new Set(permissions.map(areaOf));
    for (const area of areas) {
      const others = permissions.filter((one) => areaOf(one) !== area);
      const token = await journey.tokenOf({ sub: 'bob', tenantId, roles: [], permissions: others });
      const ofArea = guarded().filter(
        ({ access }) => access.type === 'permission' && areaOf(access.permission) === area,
      );
      found.push(...(await exceptions(token, ofArea, (status) => status === 403)));
    }
    expect(found).toEqual([]);
  });

  it('with an API key beyond its permissions, and keys are not its own to make', async () => {
    const isForKeys = ({ access }: Operation) =>
      access.type === 'permission' && access.permission === 'Platform.ApiKeys.Manage';
    const others = guarded().filter((operation) => !isForKeys(operation));
    expect(await exceptions(apiKey, others, (status) => status === 403)).toEqual([]);
    const writes = guarded().filter((operation) => isForKeys(operation) && operation.call.method !== 'GET');
    expect(writes.length).toBe(2);
    expect(await exceptions(apiKey, writes, (status) => [403, 404].includes(status))).toEqual([]);
  });

  it('for an administrator of another tenant', async () => {
    const token = await journey.tokenOf({ sub: 'ada', tenantId: newId() });
    expect(await exceptions(token, operations, (status) => status < 500)).toEqual([]);
  });
});

describe('what belongs to one person', () => {
  const shared = newId();
  const definition = 'Contacts.Contacts';
  const zone = 'Pacific/Kiritimati';
  /** In everything that ada has for herself. */
  const canary = /canary|Kiritimati/;
  const preset = {
    definitionName: definition,
    presetName: 'canary',
    selectedFields: [],
    format: 'csv',
    includeIdForImport: false,
  };
  let ada: string;
  let eve: string;
  /** Of what ada has; the path of every operation with an id is called with each. */
  let ids: string[];

  const as =
    (token: string) =>
    (method: string, path: string, body?: unknown, headers = {}) =>
      journey.call(method, `/api/v1${path}`, { token, headers, ...(body === undefined ? {} : { body }) });

  beforeAll(async () => {
    ada = await journey.tokenOf({ sub: 'ada', tenantId: shared });
    // Every permission there is, as ada has.
    eve = await journey.tokenOf({ sub: 'eve', tenantId: shared });
    const bob = await journey.tokenOf({ sub: 'bob', tenantId: shared });
    await as(ada)('PUT', '/settings/user/Service.Timing.PreferredTimezone', { value: zone });
    await as(ada)('POST', '/exports/presets', preset, { 'idempotency-key': 'of-ada' });
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const delegation = await as(ada)('POST', '/workflow/delegations', { delegateId: 'canary', until });
    await as(ada)('POST', '/timeline/Order/canary/follow');
    await as(bob)('POST', '/timeline/Order/canary/entries', { entryType: 0, body: 'canary' });
    const notifications = await eventually(async () => {
      const { body } = await as(ada)('GET', '/notifications');
      return body.items.length > 0 && body.items;
    });
    ids = [notifications[0].id, delegation.body.id];
  });

  /** Every row that names ada as the one it belongs to. */
  const rowsOfAda = async () => {
    const found: Record<string, string[]> = {};
    for (const { name, client } of clients) {
      const { rows: columns } = await client.query<{ table: string; column: string }>(
        `SELECT table_name AS table, column_name AS column FROM information_schema.columns
         WHERE table_schema = 'public' AND column_name IN ('user_id', 'delegator_id')`,
      );
      for (const { table, column } of columns) {
        const { rows } = await client.query<{ row: string }>(
          `SELECT to_jsonb(t)::text AS row FROM "${table}" t WHERE tenant_id = $1 AND "${column}" = 'ada' ORDER BY 1`,
          [shared],
        );
        if (rows.length > 0) found[`${name}.${table}`] = rows.map(({ row }) => row);
      }
    }
    return found;
  };

  /** The paths of an operation that would lead to what ada has, if they did. */
  const pathsOf = ({ call, service }: Operation): string[] => {
    const path = fill(call, document);
    const named =
      service === 'settings'
        ? path.replace(/\/settings\/\w+\/sample/, '/settings/user/Service.Timing.PreferredTimezone')
        : path
            .replace('/presets/sample/sample', `/presets/${definition}/canary`)
            .replace('/presets/sample', `/presets/${definition}`);
    return named.includes(sampleId()) ? ids.map((id) => named.replaceAll(sampleId(), id)) : [named];
  };

  const readsOf = async (token: string, chosen: Operation[]): Promise<string[]> => {
    const found: string[] = [];
    for (const operation of chosen) {
      const { call } = operation;
      const body = call.body === undefined ? {} : { body: sample(call.body, document) };
      for (const path of pathsOf(operation)) {
        const { status, text } = await journey.call(call.method, path, { token, ...body });
        if (status >= 500 || (status < 300 && canary.test(text))) found.push(call.name);
      }
    }
    return found;
  };

  it('is neither shown to nor changed by another administrator of the tenant, whatever they call', async () => {
    const before = await rowsOfAda();
    expect(Object.keys(before).sort()).toEqual([
      'data-exchange.export_preset',
      'settings.setting_change',
      'settings.setting_value',
      'timeline.follower',
      'timeline.notification',
      'timeline.notification_count',
      'timeline.person',
      'timeline.person_suffix',
      'workflow.delegation',
    ]);
    const isRead = ({ call }: Operation) => call.method === 'GET';

    expect(await readsOf(eve, operations.filter(isRead))).toEqual([]);
    expect(
      await readsOf(
        eve,
        operations.filter((operation) => !isRead(operation)),
      ),
    ).toEqual([]);

    expect(await rowsOfAda()).toEqual(before);
    // The same calls show it to the person.
    expect((await readsOf(ada, operations.filter(isRead))).length).toBeGreaterThanOrEqual(5);
  });

  it('is not replayed to another user who has found out the idempotency key', async () => {
    const repeat = (token: string) =>
      as(token)('POST', '/exports/presets', preset, { 'idempotency-key': 'of-ada' });
    const [ofAda, ofEve] = [await repeat(ada), await repeat(eve)];
    expect([ofAda.status, ofAda.headers.get('x-idempotency-replayed')]).toEqual([201, 'true']);
    expect([ofEve.status, ofEve.headers.get('x-idempotency-replayed')]).toEqual([201, null]);
  });
});
