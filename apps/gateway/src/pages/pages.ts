import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { internalProblem } from '@plinth/http/problem-details';
import { requireStorableQuery } from '@plinth/http/storable-query';
import { notFound, Problem } from '@plinth/kernel/problem';
import type { Identity } from '../identity/identity';
import type { RequestContext } from '../request-context';

/** A group of paths that the gateway serves itself, outside the prefix and its versions. */
export interface PageGroup {
  /** The first segment of their paths, with the slash. */
  path: string;
  /** Not counted by rate limits. */
  unlimited?: boolean;
  mount(app: Express, identityOf: IdentityOf, contextOf: ContextOf): void;
}

/** Whom the credential of a request stands for: undefined without one, a problem for one that is not valid. */
export type IdentityOf = (request: Request) => Identity | Problem | undefined;

/** What the gateway knows about the request of a page. */
export type ContextOf = (request: Request) => RequestContext;

/** The gateway's own pages: an Express application behind the same checks as everything else. */
export class Pages {
  private readonly groups: ReadonlyMap<string, PageGroup>;
  private readonly app: Express = express();
  private readonly served = new WeakMap<
    object,
    { context: RequestContext; identity: Identity | Problem | undefined }
  >();

  constructor(groups: readonly PageGroup[]) {
    this.groups = new Map(groups.map((group) => [group.path, group]));
    this.app.disable('x-powered-by');
    // Pages that have a tag compute a strong one.
    this.app.disable('etag');
    this.app.enable('strict routing');
    this.app.use((request, _response, next) => {
      requireStorableQuery(request.query);
      next();
    });
    const identityOf: IdentityOf = (request) => this.served.get(request)?.identity;
    const contextOf: ContextOf = (request) => this.served.get(request)!.context;
    for (const group of groups) group.mount(this.app, identityOf, contextOf);
    this.app.use((request) => {
      throw notFound(`There is no resource at ${request.path}.`);
    });
    this.app.use(this.onError);
  }

  find(path: string): PageGroup | undefined {
    const end = path.indexOf('/', 1);
    return this.groups.get(end < 0 ? path : path.slice(0, end)) ?? this.groups.get(path);
  }

  serve(context: RequestContext, group: PageGroup, identity?: Identity | Problem): void {
    context.route = group.path.slice(1) || 'root';
    this.served.set(context.request, { context, identity });
    context.setCommonHeaders();
    this.app(context.request as Request, context.response as Response);
  }

  private readonly onError: ErrorRequestHandler = (error, request, _response, _next) => {
    this.served.get(request)!.context.sendProblem(error instanceof Problem ? error : internalProblem(error));
  };
}

/** Responds to OPTIONS with the methods of a path, and refuses every other method; both have `Allow`. */
export function onlyMethods(app: Express, path: string, ...methods: string[]): void {
  const allow = [...methods, 'OPTIONS'].sort();
  app.options(path, (_request, response) => void response.status(204).set('allow', allow.join(', ')).end());
  app.all(path, (request) => {
    throw new Problem('method-not-allowed', `${request.method} is not allowed for this resource.`, { allow });
  });
}
