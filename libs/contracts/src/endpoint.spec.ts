import { allEndpoints } from './all';
import type { Endpoint, Endpoints } from './endpoint';

const endpoints = Object.values(allEndpoints).flatMap((ofService: Endpoints) => Object.values(ofService));

/** Whether clients wait for what it makes, however long that takes. */
const isWaitedFor = ({ rateLimitClass, upload, success }: Endpoint): boolean =>
  rateLimitClass === 'expensive' && !upload && success.status !== 202;

const waitedFor = endpoints
  .filter(isWaitedFor)
  .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

it.each(waitedFor)('%s may be repeated, so that no key of a client ends it after 25 s', (_name, endpoint) => {
  expect(endpoint).toMatchObject({ method: 'POST', repeatable: true });
});

it('the first rows of a file, however large, are waited for as are renderings and dry-runs', () => {
  expect(waitedFor.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'POST /imports/:jobId/preview',
      'POST /imports/:jobId/dry-run',
      'POST /templates/:name/preview',
      'POST /templates/:name/render',
      'POST /templates/:name/render-batch',
    ]),
  );
});
