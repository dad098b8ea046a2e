import { SignJWT, UnsecuredJWT, decodeJwt, generateKeyPair } from 'jose';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { callsOf, fill, queryNamesOf, replacing, sample, type Call, type OpenApi } from './open-api';
import { startJourney, type ApiResponse, type Journey } from './platform';

/** Every operation of the interface, from the OpenAPI document of the running platform. */
let journey: Journey;
let document: OpenApi;
let calls: Call[];
let token: string;
/** Of the host tenant, for what is for operators only. */
let operatorToken: string;

beforeAll(async () => {
  journey = await startJourney();
  document = (await journey.call('GET', '/openapi.json')).body;
  calls = callsOf(document);
  token = await journey.tokenOf({ tenantId: '01900000-0000-7000-8000-0000000000e2' });
  operatorToken = await journey.tokenOf({ tenantId: HOST_TENANT_ID });
});

const send = (call: Call, options: { token?: string; body?: unknown; path?: string; method?: string }) =>
  journey.call(options.method ?? call.method, options.path ?? fill(call, document), {
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(options.body === undefined ? {} : { body: options.body }),
  });

const isProblem = ({ status, headers, body }: ApiResponse) =>
  headers.get('content-type') === 'application/problem+json' &&
  body.status === status &&
  ['type', 'title', 'detail', 'instance', 'traceId'].every((name) => typeof body[name] === 'string');

const tokenFor = ({ path }: Call): string =>
  /\/(operations|exchange-jobs)\b/.test(path) ? operatorToken : token;

/** Calls each operation and lists those whose response is not as expected. */
async function exceptions(
  chosen: readonly Call[],
  request: (call: Call) => Promise<ApiResponse>,
  expected: (response: ApiResponse) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  const pending = [...chosen];
  const work = async () => {
    for (let call = pending.shift(); call; call = pending.shift()) {
      const response = await request(call);
      if (!expected(response)) found.push(`${call.name}: ${response.status} ${response.text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return found;
}

const refused =
  (...statuses: number[]) =>
  (response: ApiResponse) =>
    statuses.includes(response.status) && isProblem(response);
/** Operations that read their body; others ignore it. */
const takesJson = () =>
  calls.filter(({ body }) => {
    const value = body && sample(body, document);
    return typeof value === 'object' && value !== null;
  });

it('the OpenAPI document has operations of every service', () => {
  const services = new Set(calls.map(({ path }) => path.split('/')[path.startsWith('/api') ? 3 : 1]));
  for (const service of [
    'templates',
    'localization',
    'exports',
    'imports',
    'timeline',
    'settings',
    'workflow',
  ]) {
    expect([...services]).toContain(service);
  }
});

describe('a request without a valid credential', () => {
  const guarded = () => calls.filter(({ isPublic }) => !isPublic);

  it('is 401 for every operation', async () => {
    expect(await exceptions(guarded(), (call) => send(call, {}), refused(401))).toEqual([]);
  });

  it('is 401 for a token that is expired, unsigned, malformed or of another issuer', async () => {
    const claims = decodeJwt(token);
    const { privateKey } = await generateKeyPair('ES256');
    const tokens = [
      await journey.tokenOf({ expiresInSeconds: -120 }),
      new UnsecuredJWT(claims).encode(),
      await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'theirs' }).sign(privateKey),
      token.slice(0, -8) + 'AAAAAAAA',
      'nonsense',
    ];
    for (const bad of tokens) {
      expect(
        await exceptions(calls.slice(0, 10), (call) => send(call, { token: bad }), refused(401)),
      ).toEqual([]);
    }
  });

  it('is 403 for another tenant, 400 for a tenant that is not an id', async () => {
    const headers = { 'x-tenant-id': '01900000-0000-7000-8000-0000000000e3' };
    expect((await journey.call('GET', '/api/v1/settings/user', { token, headers })).status).toBe(403);
    expect(
      (await journey.call('GET', '/api/v1/settings/user', { token, headers: { 'x-tenant-id': 'x' } })).status,
    ).toBe(400);
  });
});

describe('a request without permission', () => {
  it('is refused, or has a response that is public', async () => {
    const withoutPermissions = await journey.tokenOf({ roles: [], permissions: [] });
    const responses = await exceptions(
      calls,
      (call) => send(call, { token: withoutPermissions, body: call.body && sample(call.body, document) }),
      ({ status }) => status < 500,
    );
    expect(responses).toEqual([]);
  });
});

describe('invalid input', () => {
  it.each([
    ['malformed JSON', '{"'],
    ['a text where an object belongs', '"text"'],
    ['a list where an object belongs', '[]'],
    ['too deep JSON', `${'['.repeat(100)}${']'.repeat(100)}`],
  ])('%s is 400', async (_, body) => {
    expect(
      await exceptions(takesJson(), (call) => send(call, { token: tokenFor(call), body }), refused(400)),
    ).toEqual([]);
  });

  it('is never a server error as an empty object', async () => {
    expect(
      await exceptions(
        takesJson(),
        (call) => send(call, { token: tokenFor(call), body: {} }),
        ({ status }) => status < 500,
      ),
    ).toEqual([]);
  });

  it('is 422 for NUL and half a surrogate pair at every place of a body', async () => {
    for (const bad of ['a\0b', 'a\ud800b']) {
      const variants = takesJson().flatMap((call) =>
        [...replacing(sample(call.body!, document), bad)].map((body) => ({ call, body })),
      );
      expect(variants.length).toBeGreaterThan(50);
      const bodies = new Map(variants.map(({ call, body }) => [{ ...call }, body]));
      const request = (call: Call) => send(call, { token: tokenFor(call), body: bodies.get(call) });
      expect(await exceptions([...bodies.keys()], request, refused(422))).toEqual([]);
    }
  });

  it('is 400 for NUL in a path, and never a server error in a query', async () => {
    const withParameters = calls.filter(({ path }) => path.includes('{'));
    expect(
      await exceptions(
        withParameters,
        (call) => send(call, { token: tokenFor(call), path: fill(call, document, 'a%00b') }),
        refused(400),
      ),
    ).toEqual([]);
    const queried = calls.flatMap((call) =>
      call.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => ({ call, name })),
    );
    for (const { call, name } of queried) {
      const path = `${fill(call, document)}?${encodeURIComponent(name)}=a%00b`;
      expect(
        await exceptions([call], () => send(call, { token: tokenFor(call), path }), refused(400, 404, 422)),
      ).toEqual([]);
    }
  });

  it('is never a server error as a number that is too large or negative', async () => {
    const fine = ({ status }: ApiResponse) => status < 500;
    for (const number of [99_999_999_999, -1, 1.5]) {
      const queried = calls.flatMap((call) =>
        queryNamesOf(call).map((name) => ({ ...call, query: `${encodeURIComponent(name)}=${number}` })),
      );
      const queries = new Map(queried.map((call) => [call as Call, call.query]));
      const request = (call: Call) =>
        send(call, {
          token: tokenFor(call),
          path: `${fill(call, document)}?${queries.get(call)}`,
          body: call.body && sample(call.body, document),
        });
      expect(await exceptions([...queries.keys()], request, fine)).toEqual([]);

      const variants = takesJson().flatMap((call) =>
        [...replacing(sample(call.body!, document), number)].map((body) => ({ call, body })),
      );
      const bodies = new Map(variants.map(({ call, body }) => [{ ...call }, body]));
      const askWith = (call: Call) => send(call, { token: tokenFor(call), body: bodies.get(call) });
      expect(await exceptions([...bodies.keys()], askWith, fine)).toEqual([]);
    }
  });

  it('is never a server error as a strange name in a path', async () => {
    for (const strange of ['%2E%2E', '%F0%9F%98%80', `${'x'.repeat(2_000)}`, "'%3B--", '__proto__', '%20']) {
      expect(
        await exceptions(
          calls,
          (call) =>
            send(call, {
              token: tokenFor(call),
              path: fill(call, document, strange),
              body: call.body && sample(call.body, document),
            }),
          (response) => response.status < 500 && (response.status < 400 || isProblem(response)),
        ),
      ).toEqual([]);
    }
  });
});

describe('an address that is not in the interface', () => {
  it('is 404 for an unknown path', async () => {
    expect(
      await exceptions(
        calls,
        (call) => send(call, { token, path: `${fill(call, document)}/x/y/z/w/v` }),
        refused(404),
      ),
    ).toEqual([]);
  });

  it('is 405 for an unknown method, with the known ones in Allow', async () => {
    const byPath = Map.groupBy(calls, ({ path }) => path);
    for (const [, operations] of byPath) {
      const [first] = operations;
      const missing = ['PATCH', 'DELETE', 'POST'].find((method) =>
        operations.every((call) => call.method !== method),
      )!;
      const response = await send(first!, { token, method: missing, path: fill(first!, document) });
      expect([first!.name, response.status]).toEqual([first!.name, 405]);
      for (const { method } of operations) expect(response.headers.get('allow')).toContain(method);
    }
  });
});
