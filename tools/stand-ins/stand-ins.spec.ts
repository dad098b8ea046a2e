import { allEndpoints } from '@plinth/contracts/all';
import { authenticated, endpoint, type Endpoint, type Endpoints } from '@plinth/contracts/endpoint';
import { createSettingsClient } from '@plinth/conventions/settings-client';
import { protoPackages } from '@plinth/proto/packages';
import { sibling } from '@plinth/runtime/grpc';
import { createMetrics, Health } from '@plinth/runtime/health';
import { closeAll, type Close } from '@plinth/runtime/lifecycle';
import { silentLog } from '@plinth/runtime/log';
import { aCaller, clientOf, TEST_KEYS } from '@plinth/testing/http';
import { z } from 'zod';
import { exampleAnswer } from './example-answer';
import { serveStandIns, type StandInPorts } from './stand-ins';

const areas = Object.keys(allEndpoints);
const config = {
  // Every answer is checked by its contract.
  NODE_ENV: 'test',
  HTTP_HOST: '127.0.0.1',
  PUBLIC_URL: 'http://localhost:8080',
  PUBLIC_PREFIX: '/api/v1',
  CALLER_KEYS: TEST_KEYS,
  CURSOR_KEYS: TEST_KEYS,
};

describe('stand-ins of services', () => {
  const closers: Close[] = [];
  let ports: StandInPorts[];
  beforeAll(async () => {
    const context = { config, log: silentLog(), health: new Health({}), metrics: createMetrics('test') };
    const wanted = areas.map((area) => ({ area, httpPort: 0, grpcPort: 0 }));
    ports = await serveStandIns(wanted, context, (close) => closers.push(close));
  });
  afterAll(() => closeAll(closers, silentLog()));

  const portsOf = (area: string) => ports.find((one) => one.area === area)!;
  const grpcOf = (area: string) => `127.0.0.1:${portsOf(area).grpcPort}`;
  const httpOf = (area: string, caller = aCaller()) =>
    clientOf(`http://127.0.0.1:${portsOf(area).httpPort}`, '/api/v1', caller, caller.tenantId);

  const isReadOfAnything = ({ method, path, query, success }: Endpoint) =>
    method === 'GET' &&
    !path.includes(':') &&
    !success.events &&
    (query === undefined || query.safeParse({}).success);
  const reads = areas.flatMap((area) =>
    Object.values((allEndpoints as Record<string, Endpoints>)[area]!)
      .filter(isReadOfAnything)
      .map(({ path }) => ({ area, path })),
  );

  it.each(reads)(
    'answer GET $path of $area with an example that the contract allows',
    async ({ area, path }) => {
      const answer = await httpOf(area).get(path);
      expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
    },
  );

  it('give back what a request says, where the answer has a place for it', async () => {
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

  it('end every list, so that whoever turns pages comes to an end', async () => {
    const { body } = await httpOf('timeline').get('/timeline/Contact/1?cursor=');
    expect(body).toMatchObject({ totalCount: 1, nextCursor: null });
  });

  it('refuse what the service would refuse', async () => {
    const http = httpOf('contacts');
    expect((await http.post('/companies', { externalId: 'C-7' })).status).toBe(422);
    expect((await http.get('/contacts?sort=phone')).status).toBe(400);
    const reader = httpOf('contacts', aCaller({ permissions: ['Contacts.Contacts.Read'] }));
    expect((await reader.get('/companies')).status).toBe(403);
  });

  it('answer the questions of siblings as a service that has nothing', async () => {
    const { exchange, localization, workflow } = protoPackages;
    const ask = { caller: aCaller() };
    const owner = sibling('template', exchange.v1.ExchangeOwner, grpcOf('template'), TEST_KEYS);
    const texts = sibling('localization', localization.v1.Localization, grpcOf('localization'), TEST_KEYS);
    const entities = sibling('template', workflow.v1.EntityOwner, grpcOf('template'), TEST_KEYS);
    closers.push(owner.close, texts.close, entities.close);

    expect(await owner.ask('ListDefinitions', {}, null)).toMatchObject({ definitions: [] });
    expect(await texts.ask('ResolveTexts', { cultureName: 'fr' }, ask.caller)).toMatchObject({
      cultureName: 'fr',
      texts: [],
    });
    const entity = { entityType: 'Template', entityId: 'welcome' };
    expect(await entities.ask('Describe', entity, ask.caller)).toMatchObject({ exists: false });
    expect(await entities.ask('Apply', entity, ask.caller)).toMatchObject({ outcome: 'STATE_CHANGED' });
  });

  it('let clients of settings go on with their defaults', async () => {
    const settings = createSettingsClient(
      { GRPC_SERVICES: { settings: grpcOf('settings') }, CALLER_KEYS: TEST_KEYS },
      silentLog(),
    );
    closers.push(settings.close);
    settings.register('timeline', []);
    expect(await settings.resolve(aCaller(), ['Service.Localization.PreferredCulture'])).toEqual({});
  });

  it('say whose answer is missing where no example can be made', () => {
    const lottery = endpoint({
      method: 'GET',
      path: '/lottery',
      summary: 'Read the numbers',
      access: authenticated,
      success: { status: 200, body: z.string().regex(/^\d{6}$/) },
      cache: 'none',
    });

    expect(() => exampleAnswer('casino', lottery)({}, {})).toThrow(
      expect.objectContaining({ kind: 'overloaded', detail: expect.stringContaining('casino') }),
    );
  });

  it('believe no caller that the gateway did not sign', async () => {
    const url = `http://127.0.0.1:${portsOf('contacts').httpPort}/api/v1/contacts`;
    expect((await fetch(url)).status).toBe(401);
  });
});
