import { pageWithScripts } from './page-scripts';

const PAGE = '<html><head><title>Console</title></head><body></body></html>';
const pageAt = pageWithScripts('/console', {
  page: PAGE,
  scripts: {
    '/imports': ['assets/imports-a1.js', 'assets/common-b2.js'],
    '/imports/$jobId': ['assets/import-c3.js'],
    '/imports/new': ['assets/new-d4.js'],
    '/entities/$entityType/$entityId': ['assets/entity-e5.js'],
  },
});
const scriptsAt = (path: string) =>
  [...pageAt(path).matchAll(/<link rel="modulepreload"[^>]* href="([^"]+)">/g)].map(([, href]) => href);

describe('the page of an application', () => {
  it('names the scripts of the page at its address, behind all others', () => {
    expect(scriptsAt('/console/imports')).toEqual([
      '/console/assets/imports-a1.js',
      '/console/assets/common-b2.js',
    ]);
    expect(scriptsAt('/console/imports/')).toEqual(scriptsAt('/console/imports'));
    expect(pageAt('/console/imports')).toMatch(/fetchpriority="low"[^>]*><\/head>/);
  });

  it('takes any segment for a value of the path, but a name first for itself', () => {
    expect(scriptsAt('/console/imports/4711')).toEqual(['/console/assets/import-c3.js']);
    expect(scriptsAt('/console/imports/new')).toEqual(['/console/assets/new-d4.js']);
    expect(scriptsAt('/console/entities/Contact/1%2F2')).toEqual(['/console/assets/entity-e5.js']);
  });

  it.each(['/console', '/console/', '/console/nowhere', '/console/imports/1/2', '/console/entities//'])(
    'is as it was built at %s, which the application does not know',
    (path) => expect(pageAt(path)).toBe(PAGE),
  );
});
