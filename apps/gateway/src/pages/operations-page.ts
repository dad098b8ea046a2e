import { operationsEndpoints } from '@plinth/contracts/platform/operations-endpoints';
import {
  ReplayDeadLettersRequest,
  ReplayedDeadLetters,
  ServiceDeadLetters,
  type DeadLetters,
  type PlatformOperations,
} from '@plinth/contracts/platform/operations-shapes';
import { readJson } from '@plinth/http/body';
import { statusByKind } from '@plinth/http/problem-details';
import type { Caller } from '@plinth/kernel/caller';
import { invalid, malformed, Problem } from '@plinth/kernel/problem';
import { parseInput } from '@plinth/kernel/validation';
import { hashOf } from '@plinth/runtime/rpc/signed-caller';
import type { z } from 'zod';
import type { IdempotencyGuard } from '../idempotency/guard';
import type { Tenants } from '../identity/tenants';
import type { GatewayMetrics } from '../metrics';
import type { Upstream } from '../proxy/upstream';
import type { CompleteResponse, RequestContext } from '../request-context';
import type { RequestHistory } from '../request-history';
import { onlyMethods, type PageGroup } from './pages';
import { signedInCaller } from './signed-in-caller';

interface Parts {
  guard: IdempotencyGuard;
  callerKeys: readonly string[];
  /** Where a trace is looked at, with `{traceId}` in it. */
  tracesUrl: string | null;
  tenants: Tenants;
  upstreams: readonly Upstream[];
  metrics: GatewayMetrics;
  history: RequestHistory;
  startedAt: Date;
  /** Resolves where the parts of the gateway itself respond. */
  checkRedis: () => Promise<unknown>;
}

const { getOperations, listDeadLetters, replayDeadLetters } = operationsEndpoints;

/** `/operations`: how the platform is, and what its services could not process, for its operators. */
export const operationsPage = (parts: Parts): PageGroup => ({
  path: '/operations',
  mount(app, identityOf, contextOf) {
    app.get('/operations', async (request, response) => {
      signedInCaller(getOperations, request, identityOf, parts.tenants);
      response.set('cache-control', 'no-store').json(await readOperations(parts));
    });
    onlyMethods(app, '/operations', 'GET', 'HEAD');
    app.get(listDeadLetters.path, async (request, response) => {
      const caller = signedInCaller(listDeadLetters, request, identityOf, parts.tenants);
      response.set('cache-control', 'no-store').json(await readDeadLetters(caller, parts));
    });
    onlyMethods(app, listDeadLetters.path, 'GET', 'HEAD');
    app.post(replayDeadLetters.path, async (request) => {
      const caller = signedInCaller(replayDeadLetters, request, identityOf, parts.tenants);
      const context = contextOf(request);
      context.send(await replayOnce(context, caller, parts));
    });
    onlyMethods(app, replayDeadLetters.path, 'POST');
  },
});

async function readOperations(parts: Parts): Promise<z.input<typeof PlatformOperations>> {
  const { upstreams, metrics, history, startedAt, checkRedis, tenants, tracesUrl } = parts;
  const [services, redis] = await Promise.all([
    Promise.all(upstreams.map((upstream) => readService(upstream, history))),
    checkRedis().then(
      () => true,
      () => false,
    ),
  ]);
  return {
    startedAt: startedAt.toISOString(),
    redisResponds: redis,
    services,
    limits: await countsOf(metrics.limits, 'decision'),
    idempotency: await countsOf(metrics.idempotency, 'outcome'),
    minutes: history.lastMinutes(),
    failures: [...history.lastFailures()],
    tenants: [...tenants.named],
    tracesUrl,
  };
}

async function readService(upstream: Upstream, history: RequestHistory) {
  const state = await upstream.state();
  return {
    name: upstream.service,
    ready: state?.ready ?? false,
    responds: state !== undefined,
    parts: state?.parts ?? {},
    queues: state?.queues ?? null,
    breaker: upstream.breaker.state,
    running: upstream.running('calls') + upstream.running('streams'),
    ...history.ofService(upstream.service),
  };
}

/** What a service that does not respond could not process is unknown, and said to be. */
async function readDeadLetters(
  caller: Caller,
  { upstreams, callerKeys }: Parts,
): Promise<z.input<typeof DeadLetters>> {
  const lists = await Promise.all(
    upstreams.map(async (upstream) => {
      const { service } = upstream;
      const request = { method: 'GET', path: '/dead-letters', caller } as const;
      const letters = await upstream
        .ask(request, callerKeys)
        .then(ServiceDeadLetters.parse)
        .catch(() => undefined);
      return { service, letters };
    }),
  );
  return {
    items: lists.flatMap(({ service, letters = [] }) => letters.map((letter) => ({ service, ...letter }))),
    silent: lists.filter(({ letters }) => letters === undefined).map(({ service }) => service),
  };
}

/** Replays dead letters, or returns the stored response to a request with the same idempotency key. */
async function replayOnce(context: RequestContext, caller: Caller, parts: Parts): Promise<CompleteResponse> {
  const { guard } = parts;
  const { path } = replayDeadLetters;
  const key = guard.readKey(context, path);
  let bodyHash = '';
  const body = await readJson(context.request, undefined, (bytes) => (bodyHash = hashOf(bytes)));
  const execute = async (): Promise<CompleteResponse> => {
    try {
      if (body === undefined) throw malformed('A JSON body is required.');
      const replayed = await replay(parseInput(ReplayDeadLettersRequest, body, 'body'), caller, parts);
      const headers = ['content-type', 'application/json; charset=utf-8'];
      return { status: 200, headers, body: JSON.stringify(replayed) };
    } catch (error) {
      // What failed is left to the guard, which knows when a retry may run.
      if (!(error instanceof Problem) || statusByKind[error.kind] >= 500) throw error;
      return context.responseOf(error);
    }
  };
  if (key === undefined) return execute();
  const { tenantId, userId } = caller;
  const space = { tenantId, userId, method: context.method, path, key };
  return (await guard.run(guard.begin(space, bodyHash), execute))!;
}

async function replay(
  body: z.output<typeof ReplayDeadLettersRequest>,
  caller: Caller,
  { upstreams, callerKeys, guard }: Parts,
): Promise<ReplayedDeadLetters> {
  const upstream = upstreams.find(({ service }) => service === body.service);
  if (!upstream) throw invalid({ service: 'Enum' }, `There is no service ${body.service}.`);
  const request = { method: 'POST', path: '/dead-letters/replay', caller, body } as const;
  return ReplayedDeadLetters.parse(await upstream.ask(request, callerKeys, guard.executionMilliseconds));
}

interface Counted {
  get(): Promise<{ values: { value: number; labels: object }[] }>;
}

async function countsOf(counter: Counted, label: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { value, labels } of (await counter.get()).values) {
    const name = String((labels as Record<string, unknown>)[label]);
    counts[name] = (counts[name] ?? 0) + value;
  }
  return counts;
}
