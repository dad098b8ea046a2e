import { allEndpoints } from '@plinth/contracts/all';
import { authenticated, endpoint, type Endpoint, type Endpoints } from '@plinth/contracts/endpoint';
import { createSettingsClient } from '@plinth/clients/settings-client';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { protoPackages } from '@plinth/proto/packages';
import { serviceClient } from '@plinth/runtime/rpc/grpc';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { aCaller, clientOf, TEST_KEYS } from '@plinth/testing/http';
import { z } from 'zod';
import { exampleResponse } from './example-response';
import { serveServiceStubs, type StubPorts } from './service-stubs';

const services = Object.keys(allEndpoints);
const config = {
  // Every response is checked by its contract.
  NODE_ENV: 'test',
  HTTP_HOST: '127.0.0.1',
  PUBLIC_URL: 'http://localhost:8080',
  PUBLIC_PREFIX: '/api/v1',
  CALLER_KEYS: TEST_KEYS,
  CURSOR_KEYS: TEST_KEYS,
  BUFFERED_BYTES_MAX: 16 * 1024 * 1024,
  BUFFERED_RESPONSE_BYTES_MAX: 16 * 1024 * 1024,
};

describe('a service stub', () => {
  const closers: Close[] = [];
  let ports: StubPorts[];
  beforeAll(async () => {
    const context = { config, log: silentLog(), health: new Health({}), metrics: createMetrics('test') };
    const wanted = services.map((service) => ({ service, httpPort: 0, grpcPort: 0 }));
    ports = await serveServiceStubs(wanted, context, (close) => closers.push(close));
  });
  afterAll(() => closeAll(closers, silentLog()));

  const portsOf = (service: string) => ports.find((one) => one.service === service)!;
  const grpcOf = (service: string) => `127.0.0.1:${portsOf(service).grpcPort}`;
  const httpOf = (service: string, caller = aCaller()) =>
    clientOf(`http://127.0.0.1:${portsOf(service).httpPort}`, '/api/v1', caller, caller.tenantId);

  const isReadOfAnything = ({ method, path, query, success }: Endpoint) =>
    method === 'GET' &&
    !path.includes(':') &&
    !success.events &&
    (query === undefined || query.safeParse({}).success);
  const reads = services.flatMap((service) =>
    Object.values((allEndpoints as Record<string, Endpoints>)[service]!)
      .filter(isReadOfAnything)
      .map(({ path }) => ({ service, path })),
  );

  it.each(reads)(
    'responds to GET $path of $service with an example that the contract allows',
    async ({ service, path }) => {
      const operator = aCaller({ tenantId: HOST_TENANT_ID });
      const response = await httpOf(service, operator).get(path);
      expect({ status: response.status, text: response.text }).toMatchObject({ status: 200 });
    },
  );

  it('returns the values of a request, where the response has a field for them', async () => {
    const http = httpOf('contacts');
    const request = { externalId: 'C-7', name: 'Analytical Engines', kind: 'Partner', isActive: false };

    const made = await http.post('/companies', request);

    expect(made.status).toBe(201);
    expect(made.body).toMatchObject(request);
    expect(made.headers.get('location')).toMatch(/^\/api\/v1\/companies\/[0-9a-f-]{36}$/);
    expect((await httpOf('template').get('/templates/welcome')).body.name).toBe('welcome');
    expect((await httpOf('localization').get('/localization?cultureName=fr')).body.cultureName).toBe('fr');
    expect((await http.delete(`/companies/${made.body.id}`)).status).toBe(204);
  });

  it('ends every list, so that a client that reads all pages comes to an end', async () => {
    const { body } = await httpOf('timeline').get('/timeline/Contact/1?cursor=');
    expect(body).toMatchObject({ totalCount: 1, nextCursor: null });
  });

  it('refuses what the service would refuse', async () => {
    const http = httpOf('contacts');
    expect((await http.post('/companies', { externalId: 'C-7' })).status).toBe(422);
    expect((await http.get('/contacts?sort=phone')).status).toBe(400);
    const reader = httpOf('contacts', aCaller({ permissions: ['Contacts.Contacts.Read'] }));
    expect((await reader.get('/companies')).status).toBe(403);
  });

  it('responds to the gRPC calls of other services as a service that has nothing', async () => {
    const { exchange, localization, workflow } = protoPackages;
    const caller = aCaller();
    const owner = serviceClient('template', exchange.v1.ExchangeOwner, grpcOf('template'), TEST_KEYS);
    const texts = serviceClient(
      'localization',
      localization.v1.Localization,
      grpcOf('localization'),
      TEST_KEYS,
    );
    const entities = serviceClient('template', workflow.v1.EntityOwner, grpcOf('template'), TEST_KEYS);
    closers.push(owner.close, texts.close, entities.close);

    expect(await owner.call('ListDefinitions', {}, null)).toMatchObject({ definitions: [] });
    expect(await texts.call('ResolveTexts', { cultureName: 'fr' }, caller)).toMatchObject({
      cultureName: 'fr',
      texts: [],
    });
    const entity = { entityType: 'Template', entityId: 'welcome' };
    expect(await entities.call('Describe', entity, caller)).toMatchObject({ exists: false });
    expect(await entities.call('Apply', entity, caller)).toMatchObject({ outcome: 'STATE_CHANGED' });
  });

  it('lets clients of settings go on with their defaults', async () => {
    const settings = createSettingsClient(
      { GRPC_SERVICES: { settings: grpcOf('settings') }, CALLER_KEYS: TEST_KEYS },
      silentLog(),
    );
    closers.push(settings.close);
    settings.register('timeline', []);
    expect(await settings.resolve(aCaller(), ['Service.Localization.PreferredCulture'])).toEqual({});
  });

  it('names the service whose example cannot be made', () => {
    const lottery = endpoint({
      method: 'GET',
      path: '/lottery',
      summary: 'Read the numbers',
      access: authenticated,
      success: { status: 200, body: z.string().regex(/^\d{6}$/) },
      cache: 'none',
    });

    expect(() => exampleResponse('casino', lottery)({}, {})).toThrow(
      expect.objectContaining({ kind: 'overloaded', detail: expect.stringContaining('casino') }),
    );
  });

  it('rejects a caller that the gateway did not sign', async () => {
    const url = `http://127.0.0.1:${portsOf('contacts').httpPort}/api/v1/contacts`;
    expect((await fetch(url)).status).toBe(401);
  });
});
