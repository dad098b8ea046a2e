import { stringify } from 'yaml';
import { mountDocument } from './document';
import type { PageGroup } from './pages';

/** `/openapi.json`: the whole interface in one document. */
export const openApiPage = (document: object): PageGroup => ({
  path: '/openapi.json',
  mount: (app) =>
    mountDocument(app, '/openapi.json', { type: 'application/json', make: () => JSON.stringify(document) }),
});

/** `/openapi.yaml`: the same for those who read it. */
export const openApiYamlPage = (document: object): PageGroup => ({
  path: '/openapi.yaml',
  mount: (app) =>
    mountDocument(app, '/openapi.yaml', {
      type: 'application/yaml',
      make: () => stringify(document, { aliasDuplicateObjects: false }),
    }),
});
