import { jetstreamManager, type ConsumerInfo } from '@nats-io/jetstream';
import { isMissingInJetStream, missingSubject, subjectOf, type Messaging } from './nats';
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

/**
 * Asks all consumers which of these published events they do not have. `unknown` are events of consumers that are away
 * or far behind: to be asked again later.
 */
export async function findMissingEvents(
  messaging: Messaging,
  events: readonly EventReference[],
): Promise<{ missing: Set<string>; unknown: Set<string> }> {
  const names = [...new Set(events.map(({ name }) => name))];
  const subscribers = (await consumersOf(messaging)).filter((consumer) =>
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

async function consumersOf({ connection, prefix }: Messaging): Promise<ConsumerInfo[]> {
  const manager = await jetstreamManager(connection);
  const consumers: ConsumerInfo[] = [];
  try {
    for await (const consumer of manager.consumers.list(prefix)) consumers.push(consumer);
  } catch (error) {
    if (!isMissingInJetStream(error)) throw error;
  }
  return consumers;
}

const subscribesTo = ({ prefix }: Messaging, { config }: ConsumerInfo, eventName: string): boolean =>
  [config.filter_subject, ...(config.filter_subjects ?? [])].includes(subjectOf(prefix, eventName));

async function ask(
  { connection, prefix }: Messaging,
  events: readonly EventReference[],
  responsesMax: number,
): Promise<MissingEventsResponse[]> {
  if (responsesMax === 0) return [];
  const request = JSON.stringify(events.map(({ tenant_id, id, name }) => ({ tenant_id, id, name })));
  const responses: MissingEventsResponse[] = [];
  const messages = await connection.requestMany(missingSubject(prefix), request, {
    strategy: 'count',
    maxMessages: responsesMax,
    maxWait: RESPONSE_MILLISECONDS_MAX,
  });
  for await (const message of messages) {
    if (message.data.length > 0) responses.push(message.json<MissingEventsResponse>());
  }
  return responses;
}
