import { sessionEndpoints } from '@plinth/contracts/platform/session-endpoints';
import type { Tenants } from '../identity/tenants';
import { onlyMethods, type PageGroup } from './pages';
import { signedInCaller } from './signed-in-caller';

const { getCaller } = sessionEndpoints;

/** `/me`: whom a credential stands for in the tenant of the request, so that an application can offer what they may do. */
export const callerPage = (tenants: Tenants): PageGroup => ({
  path: '/me',
  mount(app, identityOf) {
    app.get('/me', (request, response) => {
      const {
        userId,
        userName,
        tenantId,
        tenantName = null,
        permissions,
      } = signedInCaller(getCaller, request, identityOf, tenants);
      response
        .set('cache-control', 'private, no-cache')
        .json({ userId, userName, tenantId, tenantName, permissions });
    });
    onlyMethods(app, '/me', 'GET', 'HEAD');
  },
});
