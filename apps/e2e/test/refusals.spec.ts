import { SignJWT, UnsecuredJWT, decodeJwt, generateKeyPair } from 'jose';
import { callsOf, fill, queryNamesOf, replacing, sample, type Call, type OpenApi } from './open-api';
import { startJourney, type Answer, type Journey } from './platform';

/** Every operation of the interface, as its own document lists them, against the running platform. */
let journey: Journey;
let document: OpenApi;
let calls: Call[];
let token: string;

beforeAll(async () => {
  journey = await startJourney();
  document = (await journey.call('GET', '/openapi.json')).body;
  calls = callsOf(document);
  token = await journey.tokenOf({ tenantId: '01900000-0000-7000-8000-0000000000e2' });
}, 300_000);
afterAll(() => journey.end());

const send = (call: Call, options: { token?: string; body?: unknown; path?: string; method?: string }) =>
  journey.call(options.method ?? call.method, options.path ?? fill(call, document), {
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(options.body === undefined ? {} : { body: options.body }),
  });

const isProblem = ({ status, headers, body }: Answer) =>
  headers.get('content-type') === 'application/problem+json' &&
  body.status === status &&
  ['type', 'title', 'detail', 'instance', 'traceId'].every((name) => typeof body[name] === 'string');

/** Makes a call for each operation and lists those whose answer is not as expected. */
async function exceptions(
  chosen: readonly Call[],
  ask: (call: Call) => Promise<Answer>,
  expected: (answer: Answer) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  const pending = [...chosen];
  const work = async () => {
    for (let call = pending.shift(); call; call = pending.shift()) {
      const answer = await ask(call);
      if (!expected(answer)) found.push(`${call.name}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return found;
}

const refused =
  (...statuses: number[]) =>
  (answer: Answer) =>
    statuses.includes(answer.status) && isProblem(answer);
/** Operations that read what they are sent; others take any body and leave it. */
const takesJson = () =>
  calls.filter(({ body }) => {
    const value = body && sample(body, document);
    return typeof value === 'object' && value !== null;
  });

it('knows every area', () => {
  const areas = new Set(calls.map(({ path }) => path.split('/')[path.startsWith('/api') ? 3 : 1]));
  for (const area of [
    'templates',
    'localization',
    'exports',
    'imports',
    'timeline',
    'settings',
    'workflow',
  ]) {
    expect([...areas]).toContain(area);
  }
});

describe('without a valid credential', () => {
  const guarded = () => calls.filter(({ isPublic }) => !isPublic);

  it('every operation is 401', async () => {
    expect(await exceptions(guarded(), (call) => send(call, {}), refused(401))).toEqual([]);
  });

  it('a token is refused that is expired, unsigned, signed by another issuer, or none at all', async () => {
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

  it('a foreign tenant is 403, a tenant that is no id 400', async () => {
    const headers = { 'x-tenant-id': '01900000-0000-7000-8000-0000000000e3' };
    expect((await journey.call('GET', '/api/v1/settings/user', { token, headers })).status).toBe(403);
    expect(
      (await journey.call('GET', '/api/v1/settings/user', { token, headers: { 'x-tenant-id': 'x' } })).status,
    ).toBe(400);
  });
});

describe('without permission', () => {
  it('no operation does more than refuse or answer what is everybody’s', async () => {
    const nobody = await journey.tokenOf({ roles: [], permissions: [] });
    const answers = await exceptions(
      calls,
      (call) => send(call, { token: nobody, body: call.body && sample(call.body, document) }),
      ({ status }) => status < 500,
    );
    expect(answers).toEqual([]);
  });
});

describe('bad input', () => {
  it.each([
    ['malformed JSON', '{"'],
    ['a text where an object belongs', '"text"'],
    ['a list where an object belongs', '[]'],
    ['too deep JSON', `${'['.repeat(100)}${']'.repeat(100)}`],
  ])('%s is 400', async (_, body) => {
    expect(await exceptions(takesJson(), (call) => send(call, { token, body }), refused(400))).toEqual([]);
  });

  it('an empty object is never a server error', async () => {
    expect(
      await exceptions(
        takesJson(),
        (call) => send(call, { token, body: {} }),
        ({ status }) => status < 500,
      ),
    ).toEqual([]);
  });

  it('NUL and half a surrogate pair are 422 at every place of a body', async () => {
    for (const bad of ['a\0b', 'a\ud800b']) {
      const variants = takesJson().flatMap((call) =>
        [...replacing(sample(call.body!, document), bad)].map((body) => ({ call, body })),
      );
      expect(variants.length).toBeGreaterThan(50);
      const bodies = new Map(variants.map(({ call, body }) => [{ ...call }, body]));
      const ask = (call: Call) => send(call, { token, body: bodies.get(call) });
      expect(await exceptions([...bodies.keys()], ask, refused(422))).toEqual([]);
    }
  });

  it('NUL is 400 in a path, and never a server error in a query', async () => {
    const withParameters = calls.filter(({ path }) => path.includes('{'));
    expect(
      await exceptions(
        withParameters,
        (call) => send(call, { token, path: fill(call, document, 'a%00b') }),
        refused(400),
      ),
    ).toEqual([]);
    const queried = calls.flatMap((call) =>
      call.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => ({ call, name })),
    );
    for (const { call, name } of queried) {
      const path = `${fill(call, document)}?${encodeURIComponent(name)}=a%00b`;
      expect(await exceptions([call], () => send(call, { token, path }), refused(400, 404, 422))).toEqual([]);
    }
  });

  it('a number that no column holds, or one below zero, is never a server error', async () => {
    const fine = ({ status }: Answer) => status < 500;
    for (const number of [99_999_999_999, -1, 1.5]) {
      const queried = calls.flatMap((call) =>
        queryNamesOf(call).map((name) => ({ ...call, query: `${encodeURIComponent(name)}=${number}` })),
      );
      const queries = new Map(queried.map((call) => [call as Call, call.query]));
      const ask = (call: Call) =>
        send(call, {
          token,
          path: `${fill(call, document)}?${queries.get(call)}`,
          body: call.body && sample(call.body, document),
        });
      expect(await exceptions([...queries.keys()], ask, fine)).toEqual([]);

      const variants = takesJson().flatMap((call) =>
        [...replacing(sample(call.body!, document), number)].map((body) => ({ call, body })),
      );
      const bodies = new Map(variants.map(({ call, body }) => [{ ...call }, body]));
      const askWith = (call: Call) => send(call, { token, body: bodies.get(call) });
      expect(await exceptions([...bodies.keys()], askWith, fine)).toEqual([]);
    }
  });

  it('strange names in paths are never a server error', async () => {
    for (const strange of ['%2E%2E', '%F0%9F%98%80', `${'x'.repeat(2_000)}`, "'%3B--", '__proto__', '%20']) {
      expect(
        await exceptions(
          calls,
          (call) =>
            send(call, {
              token,
              path: fill(call, document, strange),
              body: call.body && sample(call.body, document),
            }),
          (answer) => answer.status < 500 && (answer.status < 400 || isProblem(answer)),
        ),
      ).toEqual([]);
    }
  });
});

describe('addresses', () => {
  it('an unknown one is 404', async () => {
    expect(
      await exceptions(
        calls,
        (call) => send(call, { token, path: `${fill(call, document)}/x/y/z/w/v` }),
        refused(404),
      ),
    ).toEqual([]);
  });

  it('a method that is not there is 405 and tells which are', async () => {
    const byPath = Map.groupBy(calls, ({ path }) => path);
    for (const [, operations] of byPath) {
      const [first] = operations;
      const missing = ['PATCH', 'DELETE', 'POST'].find((method) =>
        operations.every((call) => call.method !== method),
      )!;
      const answer = await send(first!, { token, method: missing, path: fill(first!, document) });
      expect([first!.name, answer.status]).toEqual([first!.name, 405]);
      for (const { method } of operations) expect(answer.headers.get('allow')).toContain(method);
    }
  });
});
