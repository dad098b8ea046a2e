import { jetstreamManager, type ConsumerInfo } from '@nats-io/jetstream';
import { isMissingInJetStream, missingSubject, subjectOf, type Messaging } from './nats';
import { isGenuine, signMessage } from './signed-message';
import { z } from 'zod';

/** A consumer that far behind will reach an event by itself; asking it would only send everything twice. */
const BACKLOG_MAX = 1_000;
const RESPONSE_MILLISECONDS_MAX = 2_000;

/** What names an event. */
export const EventReference = z.object({ tenant_id: z.guid(), id: z.guid(), name: z.string() });
export type EventReference = z.output<typeof EventReference>;

/** The response of one consumer: which of the events it subscribes to it does not have. */
export interface MissingEventsResponse {
  consumer: string;
  missing: string[];
}

/** One kind of event that a consumer subscribes to. */
export interface EventSubscription {
  consumer: string;
  name: string;
  /** When the consumer was made, so that one which was made again is known as new. */
  created_at: string;
}

/** All consumers of the stream of events, or undefined while there is no stream. */
export async function findConsumers({ connection, prefix }: Messaging): Promise<ConsumerInfo[] | undefined> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const consumers: ConsumerInfo[] = [];
  try {
    for await (const consumer of manager.consumers.list(prefix)) consumers.push(consumer);
  } catch (error) {
    if (isMissingInJetStream(error)) return undefined;
    throw error;
  }
  return consumers;
}

/** What these consumers subscribe to. */
export const subscriptionsOf = (
  { prefix }: Pick<Messaging, 'prefix'>,
  consumers: readonly ConsumerInfo[],
): EventSubscription[] =>
  consumers.flatMap((consumer) =>
    subjectsOf(consumer).map((subject) => ({
      consumer: consumer.name,
      name: subject.slice(subjectOf(prefix, '').length),
      created_at: consumer.created,
    })),
  );

/**
 * Asks these consumers which of the published events they do not have. `unknown` are events of consumers that are away
 * or far behind: to be asked again later.
 */
export async function findMissingEvents(
  messaging: Messaging,
  consumers: readonly ConsumerInfo[],
  events: readonly EventReference[],
): Promise<{ missing: Set<string>; unknown: Set<string> }> {
  const names = [...new Set(events.map(({ name }) => name))];
  const subscribers = consumers.filter((consumer) =>
    names.some((name) => subscribesTo(messaging, consumer, name)),
  );
  const behind = new Set(subscribers.filter(isFarBehind).map(({ name }) => name));
  const responses = (await ask(messaging, events, subscribers.length)).filter(
    ({ consumer }) => !behind.has(consumer),
  );
  const silent = subscribers.filter(({ name }) => !responses.some(({ consumer }) => consumer === name));
  const unknown = events.filter(({ name }) =>
    silent.some((consumer) => subscribesTo(messaging, consumer, name)),
  );
  return {
    missing: new Set(responses.flatMap(({ missing }) => missing)),
    unknown: new Set(unknown.map(({ id }) => id)),
  };
}

const isFarBehind = ({ num_pending }: ConsumerInfo): boolean => num_pending > BACKLOG_MAX;

const subjectsOf = ({ config }: ConsumerInfo): string[] =>
  config.filter_subjects ?? (config.filter_subject ? [config.filter_subject] : []);

const subscribesTo = ({ prefix }: Messaging, consumer: ConsumerInfo, eventName: string): boolean =>
  subjectsOf(consumer).includes(subjectOf(prefix, eventName));

async function ask(
  { connection, keys, prefix }: Messaging,
  events: readonly EventReference[],
  responsesMax: number,
): Promise<MissingEventsResponse[]> {
  if (responsesMax === 0) return [];
  const request = JSON.stringify(events.map(({ tenant_id, id, name }) => ({ tenant_id, id, name })));
  const responses: MissingEventsResponse[] = [];
  const subject = missingSubject(prefix);
  const messages = await connection.requestMany(subject, request, {
    headers: signMessage(subject, request, keys),
    strategy: 'count',
    maxMessages: responsesMax,
    maxWait: RESPONSE_MILLISECONDS_MAX,
  });
  for await (const message of messages) {
    if (isGenuine(message, keys)) responses.push(message.json<MissingEventsResponse>());
  }
  return responses;
}
