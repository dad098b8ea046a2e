import { jetstreamManager } from '@nats-io/jetstream';
import { consumerNameOf, isMissingInJetStream, missingSubject, subjectOf, type Messaging } from './nats';
import { isGenuine, signMessage } from './signed-message';
import { z } from 'zod';

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

/** One kind of event that a service subscribes to. */
export interface EventSubscription {
  consumer: string;
  name: string;
  /** When it was made, so that one which was made again is known as new. */
  created_at: string;
  /** It will reach an event by itself; asking for it would only send everything twice. */
  isFarBehind: boolean;
}

/** What all services subscribe to, or undefined while there is no stream of events. */
export async function findSubscriptions({
  connection,
  prefix,
}: Messaging): Promise<EventSubscription[] | undefined> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const subscriptions: EventSubscription[] = [];
  try {
    for await (const { name, config, created, num_pending } of manager.consumers.list(prefix)) {
      const consumer = name.split('_', 1)[0]!;
      const eventName = config.filter_subject?.slice(subjectOf(prefix, '').length) ?? '';
      // Others than ours may read along.
      if (name !== consumerNameOf(consumer, eventName)) continue;
      const isFarBehind = num_pending > BACKLOG_MAX;
      subscriptions.push({ consumer, name: eventName, created_at: created, isFarBehind });
    }
  } catch (error) {
    if (isMissingInJetStream(error)) return undefined;
    throw error;
  }
  return subscriptions;
}

/**
 * Asks the subscribers of published events which of them they do not have. `unknown` are events of subscribers that are
 * away or far behind: to be asked again later.
 */
export async function findMissingEvents(
  messaging: Messaging,
  subscriptions: readonly EventSubscription[],
  events: readonly EventReference[],
): Promise<{ missing: Set<string>; unknown: Set<string> }> {
  const nameById = new Map(events.map(({ id, name }) => [id, name]));
  const names = new Set(nameById.values());
  const wanted = subscriptions.filter(({ name }) => names.has(name));
  const responses = await ask(messaging, events, new Set(wanted.map(({ consumer }) => consumer)));
  const missing = new Set<string>();
  const unknownNames = new Set<string>();
  for (const { consumer, name, isFarBehind } of wanted) {
    const response = responses.find((one) => one.consumer === consumer);
    if (!response || isFarBehind) unknownNames.add(name);
    else response.missing.filter((id) => nameById.get(id) === name).forEach((id) => missing.add(id));
  }
  const unknown = events.filter(({ name }) => unknownNames.has(name)).map(({ id }) => id);
  return { missing, unknown: new Set(unknown) };
}

/** Asks all consumers, and waits for the responses of the wanted ones. Others respond too, and often sooner. */
async function ask(
  { connection, keys, prefix }: Messaging,
  events: readonly EventReference[],
  wanted: Set<string>,
): Promise<MissingEventsResponse[]> {
  const responses: MissingEventsResponse[] = [];
  if (wanted.size === 0) return responses;
  const request = JSON.stringify(events.map(({ tenant_id, id, name }) => ({ tenant_id, id, name })));
  const subject = missingSubject(prefix);
  const messages = await connection.requestMany(subject, request, {
    headers: signMessage(subject, request, keys),
    strategy: 'timer',
    maxWait: RESPONSE_MILLISECONDS_MAX,
  });
  for await (const message of messages) {
    if (!isGenuine(message, keys)) continue;
    const response = message.json<MissingEventsResponse>();
    if (!wanted.delete(response.consumer)) continue;
    responses.push(response);
    if (wanted.size === 0) break;
  }
  return responses;
}
