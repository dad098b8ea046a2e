import { closeAll, HOST_TENANT_ID, receive, sendJson, startGateway, startUpstream } from './start-gateway';

afterEach(closeAll);

const operator = { tenantId: HOST_TENANT_ID, roles: ['admin'] };

describe('GET /operations', () => {
  it('shows operators each service with its parts and queues, and one that does not respond as such', async () => {
    const timeline = await startUpstream((request, response) => {
      const queues = { unpublished: 2, oldestSeconds: 40, deadLetters: 1 };
      const state = { ready: true, parts: { postgres: 'up' }, queues };
      sendJson(response, 200, request.url === '/state' ? state : {});
    });
    const { fetch } = await startGateway({ timeline, settings: 'http://127.0.0.1:1' });
    const response = await fetch('/operations', { as: operator });
    expect(response.headers.get('cache-control')).toBe('no-store');
    const body = (await response.json()) as { services: object[]; minutes: object[]; redisResponds: boolean };
    expect(body.services).toEqual([
      expect.objectContaining({
        name: 'timeline',
        ready: true,
        responds: true,
        queues: { unpublished: 2, oldestSeconds: 40, deadLetters: 1 },
        breaker: 'Closed',
      }),
      expect.objectContaining({ name: 'settings', ready: false, responds: false, queues: null }),
    ]);
    expect(body.minutes).toHaveLength(180);
    expect(body.redisResponds).toBe(true);
  });

  it('names the last requests that failed, with their traces, and where to look at those', async () => {
    const things = await startUpstream((_, response) => sendJson(response, 500, {}));
    const tracesUrl = 'https://traces.example/{traceId}';
    const { fetch } = await startGateway({ things }, { TRACES_URL: tracesUrl });
    const failed = await fetch('/api/v1/things/1');
    expect(failed.status).toBe(500);
    const body = (await (await fetch('/operations', { as: operator })).json()) as object;
    expect(body).toMatchObject({
      tracesUrl,
      failures: [
        {
          service: 'things',
          route: 'getThing',
          status: 500,
          traceId: expect.any(String),
        },
      ],
      tenants: expect.arrayContaining([{ id: HOST_TENANT_ID, name: 'Plinth' }]),
    });
  });

  it('is for the operators of the host tenant only', async () => {
    const { fetch } = await startGateway({});
    expect((await fetch('/operations', { as: null })).status).toBe(401);
    expect((await fetch('/operations', { as: { roles: ['admin'] } })).status).toBe(403);
    expect((await fetch('/operations', { as: { ...operator, roles: [] } })).status).toBe(403);
  });
});

describe('/operations/dead-letters', () => {
  const letter = {
    eventId: '01900000-0000-7000-8000-00000000e001',
    tenantId: '01900000-0000-7000-8000-00000000aaaa',
    name: 'template.published',
    error: 'It broke.',
    deliveries: 10,
    diedAt: '2026-11-22T10:00:00.000Z',
    traceId: null,
  };
  const replay = (body: object) => ({
    method: 'POST',
    as: operator,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

  it('lists those of all services to operators, and names services that do not respond', async () => {
    const timeline = await startUpstream((_, response) => sendJson(response, 200, [letter]));
    const { fetch } = await startGateway({ timeline, settings: 'http://127.0.0.1:1' });
    const response = await fetch('/operations/dead-letters', { as: operator });
    expect(await response.json()).toEqual({
      items: [{ ...letter, service: 'timeline' }],
      silent: ['settings'],
    });
  });

  it('has the service process them again, on behalf of the operator', async () => {
    const asked: { url: string; body: string; userId: string | undefined }[] = [];
    const timeline = await startUpstream(async (request, response) => {
      const { url, body, claims } = await receive(request);
      asked.push({ url, body, userId: claims.caller?.userId });
      sendJson(response, 200, { processed: 1, failed: 0 });
    });
    const { fetch } = await startGateway({ timeline });
    const body = { service: 'timeline', eventId: letter.eventId };
    const response = await fetch('/operations/dead-letters/replay', replay(body));
    expect([response.status, await response.json()]).toEqual([200, { processed: 1, failed: 0 }]);
    expect(asked).toEqual([
      { url: '/dead-letters/replay', body: JSON.stringify(body), userId: expect.any(String) },
    ]);
  });

  it('refuses a body that names no service, which is not the resource of its address', async () => {
    const { fetch } = await startGateway({});
    const response = await fetch('/operations/dead-letters/replay', replay({ service: 'no' }));
    const { errors } = (await response.json()) as { errors: object };
    expect([response.status, errors]).toEqual([422, { service: ['Service:Validation:EnumValidator'] }]);
  });

  it('has it done once for each idempotency key, also what is refused', async () => {
    let asked = 0;
    const timeline = await startUpstream((_, response) => {
      asked++;
      sendJson(response, 200, { processed: asked, failed: 0 });
    });
    const { fetch } = await startGateway({ timeline });
    const send = async (key: string, service: string) => {
      const request = replay({ service });
      const headers = { ...request.headers, 'idempotency-key': key };
      const response = await fetch('/operations/dead-letters/replay', { ...request, headers });
      const { processed } = (await response.json()) as { processed?: number };
      return [response.status, processed, response.headers.get('x-idempotency-replayed')];
    };
    const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
    expect(await send(first, 'timeline')).toEqual([200, 1, null]);
    expect(await send(first, 'timeline')).toEqual([200, 1, 'true']);
    expect(await send(first, 'settings')).toEqual([422, undefined, null]);
    expect(await send(second, 'no')).toEqual([422, undefined, null]);
    expect(await send(second, 'no')).toEqual([422, undefined, 'true']);
    expect(asked).toBe(1);
  });

  it('is not done beside one that takes too long, which may still be running', async () => {
    const timeline = await startUpstream(() => undefined);
    const { fetch } = await startGateway({ timeline }, { IDEMPOTENCY_TIMEOUT_MILLISECONDS: '200' });
    const request = replay({ service: 'timeline' });
    const headers = { ...request.headers, 'idempotency-key': crypto.randomUUID() };
    const send = async () => (await fetch('/operations/dead-letters/replay', { ...request, headers })).status;
    expect([await send(), await send()]).toEqual([503, 409]);
  });

  it('is 503 while the service does not respond', async () => {
    const { fetch } = await startGateway({ timeline: 'http://127.0.0.1:1' });
    expect((await fetch('/operations/dead-letters/replay', replay({ service: 'timeline' }))).status).toBe(
      503,
    );
  });

  it('is for the operators of the host tenant only', async () => {
    const { fetch } = await startGateway({});
    for (const as of [{ roles: ['admin'] }, { ...operator, roles: [] }]) {
      expect((await fetch('/operations/dead-letters', { as })).status).toBe(403);
      const sent = await fetch('/operations/dead-letters/replay', { ...replay({ service: 'timeline' }), as });
      expect(sent.status).toBe(403);
    }
  });
});
