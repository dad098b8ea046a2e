import { jetstreamManager, type ConsumerInfo } from '@nats-io/jetstream';
import { isMissingInJetStream, missingSubject, subjectOf, type Messaging } from './nats';

/** A consumer that far behind will come to a fact by itself; asking it would only send everything twice. */
const BACKLOG_MAX = 1_000;
const ANSWER_MILLISECONDS_MAX = 2_000;

/** A fact by its names. */
export interface FactName {
  tenant_id: string;
  id: string;
  name: string;
}

/** What one consumer answers when it is asked for facts: which of them it listens to and does not have. */
export interface MissingAnswer {
  consumer: string;
  missing: string[];
}

/**
 * Asks all consumers which of these published facts they do not have. `unknown` are facts of consumers that are away
 * or far behind: to be asked again later.
 */
export async function findMissing(
  messaging: Messaging,
  facts: readonly FactName[],
): Promise<{ missing: Set<string>; unknown: Set<string> }> {
  const names = [...new Set(facts.map(({ name }) => name))];
  const listeners = (await consumersOf(messaging)).filter((consumer) =>
    names.some((name) => listensTo(messaging, consumer, name)),
  );
  const behind = new Set(listeners.filter(isFarBehind).map(({ name }) => name));
  const answers = (await ask(messaging, facts, listeners.length)).filter(
    ({ consumer }) => !behind.has(consumer),
  );
  const silent = listeners.filter(({ name }) => !answers.some(({ consumer }) => consumer === name));
  const unknown = facts.filter(({ name }) => silent.some((consumer) => listensTo(messaging, consumer, name)));
  return {
    missing: new Set(answers.flatMap((answer) => answer.missing)),
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

const listensTo = ({ prefix }: Messaging, { config }: ConsumerInfo, eventName: string): boolean =>
  [config.filter_subject, ...(config.filter_subjects ?? [])].includes(subjectOf(prefix, eventName));

async function ask(
  { connection, prefix }: Messaging,
  facts: readonly FactName[],
  answersMax: number,
): Promise<MissingAnswer[]> {
  if (answersMax === 0) return [];
  const question = JSON.stringify(facts.map(({ tenant_id, id, name }) => ({ tenant_id, id, name })));
  const answers: MissingAnswer[] = [];
  const replies = await connection.requestMany(missingSubject(prefix), question, {
    strategy: 'count',
    maxMessages: answersMax,
    maxWait: ANSWER_MILLISECONDS_MAX,
  });
  for await (const reply of replies) {
    if (reply.data.length > 0) answers.push(reply.json<MissingAnswer>());
  }
  return answers;
}
