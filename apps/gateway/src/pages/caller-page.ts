import { Problem } from '@plinth/kernel/problem';
import { invalidCredential } from '../identity/credential';
import type { Tenants } from '../identity/tenants';
import { onlyMethods, type PageGroup } from './pages';

/** `/me`: whom a credential stands for in the tenant of the request, so that an application can offer what they may do. */
export const callerPage = (tenants: Tenants): PageGroup => ({
  path: '/me',
  mount(app, identityOf) {
    app.get('/me', (request, response) => {
      const identity = identityOf(request);
      if (identity instanceof Problem) throw identity;
      if (!identity) throw invalidCredential('This endpoint requires a credential.');
      const tenantId = tenants.fromHeader(request.headersDistinct['x-tenant-id'] ?? []);
      const caller = tenants.callerIn(identity, tenantId);
      const { userId, userName, tenantName = null, permissions } = caller;
      response
        .set('cache-control', 'private, no-cache')
        .json({ userId, userName, tenantId: caller.tenantId, tenantName, permissions });
    });
    onlyMethods(app, '/me', 'GET', 'HEAD');
  },
});
