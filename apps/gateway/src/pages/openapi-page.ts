import { hashedEntityTag } from '@plinth/kernel/entity-tag';
import { onlyMethods, type PageGroup } from './pages';

/** `/openapi.json`: the whole interface in one document. */
export function openApiPage(document: object): PageGroup {
  const text = JSON.stringify(document);
  const etag = hashedEntityTag(text);
  return {
    path: '/openapi.json',
    mount(app) {
      app.get('/openapi.json', (_request, response) => {
        response
          .set('content-type', 'application/json')
          .set('cache-control', 'public, max-age=3600')
          .set('etag', etag)
          .send(text);
      });
      onlyMethods(app, '/openapi.json', 'GET', 'HEAD');
    },
  };
}
