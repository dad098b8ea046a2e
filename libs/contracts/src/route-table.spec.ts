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

  it('leaves parameters percent-encoded', () => {
    expect(table.match('PUT', '/settings/user/a%2Fb')).toMatchObject({
      params: { scope: 'user', name: 'a%2Fb' },
    });
  });

  it('serves HEAD by GET', () => {
    expect(nameOf('HEAD', '/settings/user/x')).toBe('read');
  });

  it('tells a missing path from a missing method', () => {
    expect(table.match('POST', '/settings/user/x')).toEqual({
      found: 'path',
      allow: ['GET', 'HEAD', 'OPTIONS', 'PUT'],
    });
    expect(nameOf('GET', '/settings/user/x/')).toBe('nothing');
    expect(nameOf('GET', '/settings//x')).toBe('nothing');
    expect(nameOf('GET', '/elsewhere')).toBe('nothing');
  });

  it('refuses two endpoints at one address', () => {
    const twice = { a: at('GET', '/x/:id'), b: at('GET', '/x/:name') };
    expect(() => createRouteTable({ area: twice })).toThrow('Two endpoints claim GET /x/:name.');
  });
});
