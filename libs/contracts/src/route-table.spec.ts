import { allEndpoints } from './all';
import { authenticated, endpoint, type Endpoint } from './endpoint';
import { createRouteTable } from './route-table';

const at = (method: Endpoint['method'], path: string): Endpoint =>
  endpoint({ method, path, summary: path, access: authenticated, success: { status: 204 } });

const table = createRouteTable({
  settings: {
    list: at('GET', '/settings/:scope'),
    effective: at('GET', '/settings/effective'),
    read: at('GET', '/settings/:scope/:name'),
    write: at('PUT', '/settings/:scope/:name'),
  },
});

const nameOf = (method: string, path: string) => {
  const match = table.match(method, path);
  return match.found === 'route' ? match.route.name : match.found;
};

describe('the route table', () => {
  it('prefers a literal segment to a parameter', () => {
    expect(nameOf('GET', '/settings/effective')).toBe('effective');
    expect(nameOf('GET', '/settings/user')).toBe('list');
  });

  it('does not decode parameters', () => {
    expect(table.match('PUT', '/settings/user/a%2Fb')).toMatchObject({
      params: { scope: 'user', name: 'a%2Fb' },
    });
  });

  it('serves HEAD with the GET endpoint', () => {
    expect(nameOf('HEAD', '/settings/user/x')).toBe('read');
  });

  it('distinguishes a missing path from a missing method', () => {
    expect(table.match('POST', '/settings/user/x')).toEqual({
      found: 'path',
      allow: ['GET', 'HEAD', 'OPTIONS', 'PUT'],
    });
    expect(nameOf('GET', '/settings/user/x/')).toBe('nothing');
    expect(nameOf('GET', '/settings//x')).toBe('nothing');
    expect(nameOf('GET', '/elsewhere')).toBe('nothing');
  });

  it.each([
    ['GET', '/imports/jobs', '/imports'],
    ['DELETE', '/templates/a/draft', '/templates/a'],
    ['GET', '/templates/a/history/1', '/templates/a/revisions/1'],
    ['GET', '/templates/categories', '/template-categories'],
    ['POST', '/templates/categories', '/template-categories'],
    ['PUT', '/templates/categories/1', '/template-categories/1'],
    ['DELETE', '/templates/categories/1', '/template-categories/1'],
    ['GET', '/notifications/unread/count', '/notifications/unread-count'],
  ])('finds for %s %s, which existing clients send, what is at %s', (method, alias, path) => {
    const platform = createRouteTable(allEndpoints);
    expect(platform.match(method, alias)).toMatchObject({ found: 'route' });
    expect(platform.match(method, alias)).toEqual(platform.match(method, path));
  });

  it('refuses two endpoints with the same method and path', () => {
    const twice = { a: at('GET', '/x/:id'), b: at('GET', '/x/:name') };
    expect(() => createRouteTable({ area: twice })).toThrow('Two endpoints claim GET /x/:name.');
  });
});
