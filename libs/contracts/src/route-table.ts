import type { Endpoint } from './endpoint';

export interface Route<E extends Endpoint = Endpoint> {
  service: string;
  name: string;
  endpoint: E;
}

export type RouteMatch =
  | { found: 'route'; route: Route; params: Record<string, string> }
  /** The path exists, the method does not. */
  | { found: 'path'; allow: string[] }
  | { found: 'nothing' };

interface Node {
  literals: Map<string, Node>;
  parameter?: Node;
  routes: Map<string, { route: Route; names: string[] }>;
}

/**
 * Finds the endpoint of a method and a path. The gateway and the services use this one table, so that both always
 * mean the same endpoint. A literal segment takes precedence over a parameter; HEAD is served by GET.
 */
export class RouteTable {
  private readonly root: Node = emptyNode();

  constructor(readonly routes: readonly Route[]) {
    for (const route of routes)
      for (const path of [route.endpoint.path, ...(route.endpoint.aliases ?? [])]) this.add(route, path);
  }

  /** `path` is relative to the prefix and still percent-encoded. */
  match(method: string, path: string): RouteMatch {
    const segments = path.split('/').slice(1);
    const found = find(this.root, segments, 0, []);
    if (!found) return { found: 'nothing' };
    const entry = found.node.routes.get(method === 'HEAD' ? 'GET' : method);
    if (!entry) return { found: 'path', allow: allowed(found.node) };
    const params = Object.fromEntries(entry.names.map((name, index) => [name, found.values[index]!]));
    return { found: 'route', route: entry.route, params };
  }

  private add(route: Route, path: string): void {
    const names: string[] = [];
    let node = this.root;
    for (const segment of path.split('/').slice(1)) {
      if (segment.startsWith(':')) {
        names.push(segment.slice(1));
        node = node.parameter ??= emptyNode();
      } else {
        const next = node.literals.get(segment) ?? emptyNode();
        node.literals.set(segment, next);
        node = next;
      }
    }
    const { method } = route.endpoint;
    if (node.routes.has(method)) throw new Error(`Two endpoints claim ${method} ${path}.`);
    node.routes.set(method, { route, names });
  }
}

/** Joins the endpoints of several services into one table. */
export function createRouteTable(endpointsByService: Record<string, Record<string, Endpoint>>): RouteTable {
  const routes = Object.entries(endpointsByService).flatMap(([service, endpoints]) =>
    Object.entries(endpoints).map(([name, endpoint]) => ({ service, name, endpoint })),
  );
  return new RouteTable(routes);
}

const emptyNode = (): Node => ({ literals: new Map(), routes: new Map() });

const allowed = (node: Node): string[] => {
  const methods = [...node.routes.keys()];
  return [...(methods.includes('GET') ? ['HEAD'] : []), ...methods, 'OPTIONS'].sort();
};

function find(
  node: Node,
  segments: readonly string[],
  index: number,
  values: readonly string[],
): { node: Node; values: readonly string[] } | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.routes.size > 0 ? { node, values } : undefined;
  const literal = node.literals.get(segment);
  const viaLiteral = literal && find(literal, segments, index + 1, values);
  if (viaLiteral) return viaLiteral;
  if (!node.parameter || segment === '') return undefined;
  return find(node.parameter, segments, index + 1, [...values, segment]);
}
