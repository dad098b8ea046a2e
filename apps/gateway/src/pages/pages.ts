import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { internalProblem } from '@plinth/conventions/problem-details';
import { notFound, Problem } from '@plinth/kernel/problem';
import type { Exchange } from '../exchange';

/** A group of addresses that the gateway answers itself, outside the prefix and its versions. */
export interface PageGroup {
  /** The first segment of its path, with the slash. */
  path: string;
  /** Not counted by rate limits. */
  unlimited?: boolean;
  mount(app: Express): void;
}

/** The gateway's own pages: an Express application behind the same door as everything else. */
export class Pages {
  private readonly groups: ReadonlyMap<string, PageGroup>;
  private readonly app: Express = express();
  private readonly exchanges = new WeakMap<object, Exchange>();

  constructor(groups: readonly PageGroup[]) {
    this.groups = new Map(groups.map((group) => [group.path, group]));
    this.app.disable('x-powered-by');
    this.app.enable('strict routing');
    for (const group of groups) group.mount(this.app);
    this.app.use((request) => {
      throw notFound(`There is nothing at ${request.path}.`);
    });
    this.app.use(this.onError);
  }

  find(path: string): PageGroup | undefined {
    const end = path.indexOf('/', 1);
    return this.groups.get(end < 0 ? path : path.slice(0, end)) ?? this.groups.get(path);
  }

  serve(exchange: Exchange, group: PageGroup): void {
    exchange.route = group.path.slice(1);
    this.exchanges.set(exchange.request, exchange);
    exchange.prepare();
    this.app(exchange.request as Request, exchange.response as Response);
  }

  private readonly onError: ErrorRequestHandler = (error, request, _response, _next) => {
    this.exchanges.get(request)!.sendProblem(error instanceof Problem ? error : internalProblem(error));
  };
}

/** Refuses every other method at an address, with `Allow`. */
export function onlyMethods(app: Express, path: string, ...methods: string[]): void {
  app.all(path, (request) => {
    throw new Problem('method-not-allowed', `${request.method} is not possible here.`, {
      allow: [...methods, 'OPTIONS'].sort(),
    });
  });
}
