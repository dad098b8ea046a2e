import { operationsEndpoints } from '@plinth/contracts/platform/operations-endpoints';
import {
  DEAD_LETTERS_MAX,
  ReplayDeadLettersRequest,
  type ReplayedDeadLetters,
  type ServiceDeadLetters,
} from '@plinth/contracts/platform/operations-shapes';
import { malformed, Problem } from '@plinth/kernel/problem';
import { parseInput } from '@plinth/kernel/validation';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { forgetQueues } from '@plinth/runtime/postgres/store-metrics';
import type { DeadLetter, DeadLetters } from '@plinth/runtime/messaging/dead-letters';
import type { Log } from '@plinth/runtime/process/log';
import { CALLER_HEADER, verifyBody, verifyCaller } from '@plinth/runtime/rpc/signed-caller';
import type { Express, Request, Response } from 'express';
import { requireAccess } from './access';
import { readJson } from './body';
import { internalProblem, problemResponse } from './problem-details';

interface Context {
  config: { PUBLIC_URL: string; CALLER_KEYS: readonly string[] };
  log: Log;
  deadLetters?: DeadLetters | undefined;
  pool?: FairPool | undefined;
}

const { listDeadLetters, replayDeadLetters } = operationsEndpoints;

/**
 * Serves the dead letters of one service to the gateway, for operators whom it signed: they are no endpoints, since the
 * gateway makes one of all services.
 */
export function mountDeadLetters(app: Express, { config, log, deadLetters, pool }: Context): void {
  const serve =
    (access: typeof listDeadLetters.access, work: (body: unknown) => Promise<object>) =>
    async (req: Request, res: Response): Promise<void> => {
      try {
        const request = { method: req.method, path: req.originalUrl };
        const claims = verifyCaller(req.get(CALLER_HEADER), request, config.CALLER_KEYS);
        requireAccess(access, claims.caller);
        const body = await readJson(req, undefined, (bytes) => verifyBody(claims, bytes));
        res.set('cache-control', 'no-store').json(await work(body));
      } catch (error) {
        const problem = error instanceof Problem ? error : internalProblem(error);
        if (problem.kind === 'internal') log.error({ err: problem.options.cause }, problem.detail);
        const instance = req.originalUrl;
        const { status, headers, body } = problemResponse(problem, {
          instance,
          traceId: '0'.repeat(32),
          publicUrl: config.PUBLIC_URL,
        });
        res.writeHead(status, headers).end(body);
      }
    };
  app.get(
    '/dead-letters',
    serve(listDeadLetters.access, async () =>
      ((await deadLetters?.list(DEAD_LETTERS_MAX)) ?? []).map(toResponse),
    ),
  );
  app.post(
    '/dead-letters/replay',
    serve(replayDeadLetters.access, async (body): Promise<ReplayedDeadLetters> => {
      if (body === undefined) throw malformed('A JSON body is required.');
      const { eventId } = parseInput(ReplayDeadLettersRequest, body, 'body');
      const replayed = await deadLetters?.replay(DEAD_LETTERS_MAX, eventId);
      if (pool) forgetQueues(pool);
      return replayed ?? { processed: 0, failed: 0 };
    }),
  );
}

const toResponse = ({ event, error, deliveries, diedAt }: DeadLetter): ServiceDeadLetters[number] => ({
  eventId: event.id,
  tenantId: event.tenantId,
  name: event.name,
  error,
  deliveries,
  diedAt: diedAt.toISOString(),
  traceId: event.traceparent?.split('-')[1] ?? null,
});
