import { readJson } from '@plinth/http/body';
import { parseInput } from '@plinth/kernel/validation';
import { malformed } from '@plinth/kernel/problem';
import { DevTokenRequest, type DevIssuer } from '../identity/dev-issuer';
import { onlyMethods, type PageGroup } from './pages';

/** `POST /dev/token` and the keys that verify its tokens, in development only. */
export const devPages = (issuer: DevIssuer): PageGroup => ({
  path: '/dev',
  unlimited: true,
  mount(app) {
    app.post('/dev/token', async (request, response) => {
      const body = await readJson(request);
      if (body === undefined) throw malformed('A JSON body is required.');
      const token = await issuer.issue(parseInput(DevTokenRequest, body, 'body'));
      response.set('cache-control', 'no-store').json(token);
    });
    onlyMethods(app, '/dev/token', 'POST');
    app.get('/dev/jwks', (_request, response) => {
      response.set('cache-control', 'public, max-age=3600').json(issuer.jwks);
    });
    onlyMethods(app, '/dev/jwks', 'GET', 'HEAD');
  },
});
