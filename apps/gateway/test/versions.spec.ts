import { closeAll, sendJson, startGateway, startUpstream } from './start-gateway';

afterEach(closeAll);

const start = async (environment: Record<string, string> = {}) => {
  const upstream = await startUpstream((request, response) => {
    request.resume();
    if (request.url!.endsWith('/unchanged')) response.writeHead(304, { etag: '"1"' }).end();
    else sendJson(response, 200, request.url);
  });
  return startGateway({ things: upstream }, environment);
};

describe('the API version of a request', () => {
  it.each<[string, number]>([
    ['/api/v1/things', 200],
    ['/api/things', 200],
    ['/api/things?api-version=1.0', 200],
    ['/api/things?api-version=1', 200],
    ['/api/v1/things?api-version=2.0', 200],
    ['/api/v1/things?api-version=nonsense&api-version=2', 200],
    ['/greeting?api-version=1.0', 200],
    ['/api/things?api-version=2.0', 404],
    ['/api/things?api-version=1.1', 404],
    ['/greeting?api-version=9', 404],
    ['/api/v99/things', 404],
    ['/api/v0/things', 404],
    ['/api/v01/things', 404],
    ['/api/v1.0/things', 404],
    ['/api/V1/things', 404],
    ['/api/v1x/things', 404],
    ['/api/v2/things?api-version=1.0', 404],
    ['/v1/things', 404],
    ['/things', 404],
    ['/api/things?api-version=', 400],
    ['/api/things?api-version=one', 400],
    ['/api/things?api-version=1.0&api-version=1.0', 400],
    ['/api/things?api-version=1.0&api%2Dversion=2.0', 400],
  ])('%s responds with %i and the reporting headers', async (path, status) => {
    const { fetch } = await start();
    const response = await fetch(path);
    expect(response.status).toBe(status);
    expect(response.headers.get('api-supported-versions')).toBe('1.0');
    expect(response.headers.get('api-deprecated-versions')).toBe('');
    if (status >= 400) expect(response.headers.get('content-type')).toBe('application/problem+json');
  });

  it('is not passed to the service', async () => {
    const { fetch } = await start();
    expect(await (await fetch('/api/things?a=1&api-version=1.0&b=%20')).json()).toBe(
      '/api/v1/things?a=1&b=%20',
    );
  });
});

describe('a deprecated endpoint', () => {
  const announced = (headers: Headers) => ['deprecation', 'sunset', 'link'].map((name) => headers.get(name));
  const old = [
    'true',
    'Fri, 01 Jan 2027 00:00:00 GMT',
    '<http://localhost:8080/docs#old-things>; rel="deprecation"',
  ];

  it('says so in every response, errors and 304 included', async () => {
    const { fetch } = await start();
    const responses = await Promise.all([
      fetch('/api/v1/old-things/a'),
      fetch('/api/v1/old-things/unchanged'),
      fetch('/api/v1/old-things/a', { as: null }),
      fetch('/api/v1/old-things/a', { headers: { 'x-tenant-id': 'nonsense' } }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 304, 401, 400]);
    for (const { headers } of responses) expect(announced(headers)).toEqual(old);
    expect(announced((await fetch('/api/v1/things')).headers)).toEqual([null, null, null]);
  });

  it('can say since when it is deprecated', async () => {
    const { fetch } = await start({ DEPRECATION_FORMAT: 'date' });
    const { headers } = await fetch('/api/v1/old-things/a');
    expect(headers.get('deprecation')).toBe('@1767225600');
  });

  it('can be deprecated by its whole version', async () => {
    const deprecated = {
      since: '2026-06-01',
      sunset: '2027-06-01',
      link: 'https://plinth.example/migration',
    };
    const versions = JSON.stringify([{ version: '2.0' }, { version: '1.0', deprecated }]);
    const { fetch } = await start({ API_VERSIONS: versions });
    const { headers } = await fetch('/api/v1/things');
    expect(announced(headers)).toEqual([
      'true',
      'Tue, 01 Jun 2027 00:00:00 GMT',
      '<https://plinth.example/migration>; rel="deprecation"',
    ]);
    expect([headers.get('api-supported-versions'), headers.get('api-deprecated-versions')]).toEqual([
      '2.0',
      '1.0',
    ]);
    const latest = await fetch('/api/things');
    expect([await latest.json(), latest.headers.get('deprecation')]).toEqual(['/api/v2/things', null]);
  });
});
