import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allEndpoints } from '@plinth/contracts/all';
import { accessOf, type Access, type Endpoint } from '@plinth/contracts/endpoint';
import { permissions } from '@plinth/contracts/permissions';
import { newId } from '@plinth/kernel/uuid';
import { Client } from 'pg';
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
let clients: { name: string; client: Client }[] = [];

beforeAll(async () => {
  journey = await startJourney();
  document = (await journey.call('GET', '/openapi.json')).body;
  operations = operationsOf(callsOf(document));
  clients = await connectToDatabases();
  await writeSomething();
}, 300_000);
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

/** The databases of the platform that the specs share, as their administrator. */
async function connectToDatabases() {
  const directory = process.env['PLINTH_SHARED_PLATFORM']!;
  const read = (file: string) => JSON.parse(readFileSync(join(directory, file), 'utf8'));
  const { port } = read('processes.json').processes.find(({ name }: { name: string }) => name === 'postgres');
  const { postgresPassword: password } = read('secrets.json');
  const connection = { host: '127.0.0.1', port, user: 'postgres', password };
  return Promise.all(
    Object.keys(allEndpoints).map(async (service) => {
      const client = new Client({ ...connection, database: `plinth_${service.replaceAll('-', '_')}` });
      await client.connect();
      return { name: service, client };
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
        `SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) AS hash FROM "${table_name}" t WHERE tenant_id = $1`,
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

  it('for an administrator of another tenant', async () => {
    const token = await journey.tokenOf({ sub: 'ada', tenantId: newId() });
    expect(await exceptions(token, operations, (status) => status < 500)).toEqual([]);
  });
});
