import type { Endpoints } from '@plinth/contracts/endpoint';
import { createRouteTable, type Route, type RouteTable } from '@plinth/contracts/route-table';
import { notFound, Problem } from '@plinth/kernel/problem';
import { decodeSegment, type Target } from './target';
import type { Deprecation, Versions } from './versions';

/** Where a request goes. */
export interface Destination {
  route: Route;
  /** Decoded. */
  params: Record<string, string>;
  /** As the service gets it, with the prefix and without the version parameter. */
  path: string;
  query: string;
  deprecated: Deprecation | undefined;
}

/** Finds the endpoint of a request. What is in no contract does not exist. */
export class Routes {
  private readonly table: RouteTable;

  constructor(
    endpointsByService: Record<string, Endpoints>,
    private readonly versions: Versions,
  ) {
    this.table = createRouteTable(endpointsByService);
  }

  /** @throws Problem `not-found`, `method-not-allowed`, `unknown-version`, or `malformed`. */
  find(method: string, target: Target): Destination {
    const { version, path: below, query, atRoot } = this.versions.resolve(target);
    const path = below.length > 1 && below.endsWith('/') ? below.slice(0, -1) : below;
    const match = this.table.match(method, path);
    if (match.found === 'nothing') throw noResource(target);
    if (match.found === 'path') {
      if (atRoot && !this.isAtRoot(path, match.allow)) throw noResource(target);
      throw new Problem('method-not-allowed', `${method} is not allowed for this resource.`, {
        allow: match.allow,
      });
    }
    const { route, params } = match;
    if (atRoot && !route.endpoint.atRoot) throw noResource(target);
    for (const name in params) params[name] = decodeSegment(params[name]!);
    return {
      route,
      params,
      path: `/api/v${version.version.split('.', 1)[0]}${path}`,
      query,
      deprecated: route.endpoint.deprecated ?? version.deprecated,
    };
  }

  private isAtRoot(path: string, methods: readonly string[]): boolean {
    return methods.some((method) => {
      const match = this.table.match(method, path);
      return match.found === 'route' && match.route.endpoint.atRoot !== undefined;
    });
  }
}

const noResource = ({ path }: Target): Problem => notFound(`There is no resource at ${path}.`);
