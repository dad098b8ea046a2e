import { z } from 'zod';
import { Id, Timestamp } from '../schemas';

/** What waits in the database of a service. */
const Queues = z.object({
  unpublished: z.int().meta({ description: 'Events that are not published yet' }),
  oldestSeconds: z.number().meta({ description: 'Age of the oldest of them' }),
  deadLetters: z.int().meta({ description: 'Events that could not be processed and wait to be replayed' }),
});

const PartStates = z.record(z.string(), z.enum(['up', 'down', 'draining']));

/** What a service says of itself to the gateway. */
export const ServiceState = z.object({ ready: z.boolean(), parts: PartStates, queues: Queues.nullable() });
export type ServiceState = z.infer<typeof ServiceState>;

const ServiceOperations = z.object({
  name: z.string(),
  ready: z.boolean(),
  responds: z.boolean(),
  parts: PartStates,
  queues: Queues.nullable().meta({
    description: 'Some seconds ago; null without a database, or where it does not respond',
  }),
  breaker: z
    .enum(['Closed', 'HalfOpen', 'Open'])
    .meta({ description: 'Open: the gateway sends nothing to it for a moment' }),
  running: z.int().meta({ description: 'Requests and streams that it is processing' }),
  requests: z.int().meta({ description: 'Since this gateway started' }),
  failed: z.int().meta({ description: 'Of them, those that ended with a server error' }),
});

const RequestFailure = z.object({
  at: Timestamp,
  service: z.string(),
  route: z.string(),
  status: z.int(),
  traceId: z.string(),
});

/** How the platform is, as one gateway sees it. */
export const PlatformOperations = z
  .object({
    startedAt: Timestamp,
    redisResponds: z.boolean(),
    services: z.array(ServiceOperations),
    limits: z.record(z.string(), z.number()).meta({ description: 'Decisions of rate limits, by decision' }),
    idempotency: z
      .record(z.string(), z.number())
      .meta({ description: 'Requests with an idempotency key, by the state of its record' }),
    minutes: z
      .array(
        z.object({
          at: Timestamp,
          requests: z.int(),
          failed: z.int(),
          limited: z.int(),
          meanMilliseconds: z.int(),
        }),
      )
      .meta({ description: 'The last three hours, the oldest minute first' }),
    failures: z
      .array(RequestFailure)
      .meta({ description: 'The last requests that ended with a server error, the newest first' }),
    tenants: z
      .array(z.object({ id: Id, name: z.string() }))
      .meta({ description: 'The tenants that the configuration names' }),
    tracesUrl: z.string().nullable().meta({
      description:
        'Address of a trace in the tracing system, with `{traceId}` in it; null where none is configured',
    }),
  })
  .meta({ id: 'PlatformOperations' });

/** An event that a service could not process. Its payload is not shown: it is the tenant's. */
const DeadLetter = z.object({
  eventId: Id,
  tenantId: Id,
  name: z.string().meta({ description: 'Of the event, such as `data-exchange.import-finished`' }),
  error: z.string().meta({ description: 'Of the last attempt, with its stack' }),
  deliveries: z.int().meta({ description: 'How often it was tried' }),
  diedAt: Timestamp,
  traceId: z.string().nullable().meta({ description: 'Of the request that the event comes from' }),
});

/** The dead letters of one service, the oldest first. */
export const ServiceDeadLetters = z.array(DeadLetter);
export type ServiceDeadLetters = z.input<typeof ServiceDeadLetters>;

export const DEAD_LETTERS_MAX = 100;

/** The dead letters of all services. */
export const DeadLetters = z
  .object({
    items: z
      .array(DeadLetter.extend({ service: z.string() }))
      .meta({ description: `The oldest of each service, at most ${DEAD_LETTERS_MAX} of it` }),
    silent: z.array(z.string()).meta({ description: 'Services that did not respond' }),
  })
  .meta({ id: 'DeadLetters' });

export const ReplayDeadLettersRequest = z
  .object({
    service: z.string().min(1).max(100).meta({ description: 'Whose dead letters' }),
    eventId: Id.optional().meta({
      description: `Only this event; without it the oldest ${DEAD_LETTERS_MAX} of the service`,
    }),
  })
  .meta({ id: 'ReplayDeadLettersRequest' });

/** What became of dead letters that were processed again. */
export const ReplayedDeadLetters = z
  .object({
    processed: z.int(),
    failed: z.int().meta({ description: 'They stay dead letters, with the error of this attempt' }),
  })
  .meta({ id: 'ReplayedDeadLetters' });
export type ReplayedDeadLetters = z.infer<typeof ReplayedDeadLetters>;
