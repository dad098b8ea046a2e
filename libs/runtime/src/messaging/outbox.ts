/**
 * Events leave a service through its outbox.
 *
 * A change and its event are written in one transaction, so neither exists without the other. A relay in each process
 * then publishes what is not published yet, oldest first, in the transaction that marks it as published. It is woken
 * after commits of its own process and also runs at an interval, so an event is late at worst, never lost. Two relays
 * never take the same row (`FOR UPDATE SKIP LOCKED`); after a crash between a publication and its record the event is
 * published again with the same message id, and consumers have an inbox.
 *
 * NATS may lose what it acknowledged, and the stream may be deleted. So a published event is reconciled a little later:
 * every consumer is asked whether its inbox has it, and what is missing is published again; nobody is asked for a kind
 * of event that nobody subscribes to. A subscription that was not there before may have missed what all others have, so
 * everything that it wants is reconciled once more. Postgres is the truth, NATS the messenger. An event is stored as
 * long as the stream would store it.
 */
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { backgroundTask } from '../process/background-task';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';
import { ensureStream, RETENTION_DAYS, subjectOf, type Messaging } from './nats';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { commitWithoutWaiting } from '../postgres/commit-without-waiting';
import { readByIndexes } from '../postgres/read-by-indexes';
import { empty, join, raw, send, sendLast, sql, type Sql } from '../postgres/raw-statements';
import { findMissingEvents, findSubscriptions, type EventSubscription } from './reconciliation';
import { currentTraceparent } from '../process/tracing';
import { signMessage } from './signed-message';

const BATCH_SIZE = 200;
/** Of events that are in memory to be published; each takes several times its bytes, and imports publish long ones. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Under load a pass publishes what many requests left. A failed pass is tried again soon, while polls may be slow: they
 * find what a process left that died between its commit and its wake.
 */
const RELAY_PACE = { pauseMilliseconds: 10, retryMilliseconds: 1_000 };
const RECONCILED_MAX = 1_000;
/**
 * A consumer that is away or far behind is asked again after as long as the event is old: soon, where it was only
 * restarted, and at most so many times later than one that responds.
 */
const PATIENCE = 10;
/** Shared by relays, which read what is subscribed to; taken alone by who finds new subscriptions. */
const SUBSCRIPTIONS_LOCK = 'outbox subscriptions';

export interface RelayTiming {
  /** How often a relay publishes without being woken. */
  pollMilliseconds: number;
  /** How often published events are reconciled while any are not confirmed, as far as this process knows. */
  reconcileMilliseconds: number;
  /** How often it looks for events that others left unconfirmed, for subscriptions that are new, and for expired events. */
  surveyMilliseconds: number;
  /** How long consumers have to process an event before they are asked for it. */
  confirmSeconds: number;
}

const usualTiming: RelayTiming = {
  pollMilliseconds: 30_000,
  reconcileMilliseconds: 10_000,
  surveyMilliseconds: 60_000,
  confirmSeconds: 30,
};

export interface NewEvent<E extends EventType> {
  type: E;
  tenantId: string;
  /** What it happened to, such as an entity or a name. */
  subject: string;
  payload: PayloadOf<E>;
  actor?: { userId: string; userName: string } | undefined;
}

/**
 * NATS takes messages of 1 MiB by default, of which the rest of the envelope and the signature have a part. One that it does
 * not take would keep all behind it in the outbox, so it is refused before it is there.
 */
export const PAYLOAD_BYTES_MAX = 960 * 1024;

const publishing = new WeakSet<object>();

/** Whether a transaction wrote events into the outbox, so that a relay is to be woken after its commit. */
export const hasPublished = (tx: RawStatements): boolean => publishing.has(tx);

/**
 * Writes events into the outbox of the running transaction; the relay publishes them after the commit, in their order.
 * @throws ZodError when a payload is not what the catalogue of events says, and RangeError when it has more than
 * `PAYLOAD_BYTES_MAX` bytes as JSON: bugs of the publisher.
 */
export async function appendToOutbox<E extends EventType>(
  tx: RawStatements,
  ...events: readonly NewEvent<E>[]
): Promise<void> {
  if (events.length > 0) await writeWithEvents(tx, [], ...events);
}

/** An event that is published where a condition holds in the running transaction, so that nobody has to ask before. */
export interface ConditionalEvent<E extends EventType> extends NewEvent<E> {
  where?: Sql;
}

/**
 * Writes events and, in the same statement, the changes that they tell of: a database spends less on one statement than
 * on several. Changes do not see each other's rows.
 * @throws ZodError when a payload is not what the catalogue of events says, and RangeError when it has more than
 * `PAYLOAD_BYTES_MAX` bytes as JSON: bugs of the publisher.
 */
export async function writeWithEvents(
  tx: RawStatements,
  changes: readonly Sql[],
  ...events: readonly ConditionalEvent<EventType>[]
): Promise<void> {
  await send(tx, statementWithEvents(tx, changes, events));
}

/** A statement that is sent; whether it wrote anything is known when its transaction has ended, which need not wait for it. */
export interface Writing {
  isWritten: Promise<boolean>;
}

/**
 * The same, where all of it depends on one change: where that changes no row, nothing is written. A compare-and-set takes
 * one statement so, together with what it leads to.
 * @param decisive a statement that may find nothing to change; it has no `RETURNING`
 * @param toChanges what else changes; each of its statements has this condition
 * @throws ZodError when a payload is not what the catalogue of events says, and RangeError when it has more than
 * `PAYLOAD_BYTES_MAX` bytes as JSON: bugs of the publisher.
 */
export function compareAndWrite(
  tx: RawStatements,
  decisive: Sql,
  toChanges: (isDecided: Sql) => readonly Sql[],
  ...events: readonly NewEvent<EventType>[]
): Writing {
  const changes = [sql`${decisive} RETURNING true`, ...toChanges(IS_DECIDED)];
  const conditional = events.map((event) => ({ ...event, where: IS_DECIDED }));
  const statement = statementWithEvents(tx, changes, conditional, DECIDED);
  const isWritten = sendLast(tx, statement).then((rows) => rows > 0);
  // Its failure is found at the end of the transaction.
  isWritten.catch(() => undefined);
  return { isWritten };
}

/** @param withoutEvents what the statement results in where there is no event */
function statementWithEvents(
  tx: RawStatements,
  changes: readonly Sql[],
  events: readonly ConditionalEvent<EventType>[],
  withoutEvents: Sql = sql`SELECT`,
): Sql {
  const named = changes.map((change, index) => sql`${raw(`change_${index}`)} AS (${change})`);
  const changing = named.length > 0 ? join(named, ', ', 'WITH ') : empty;
  if (events.length === 0) return sql`${changing} ${withoutEvents}`;
  publishing.add(tx);
  const isMany = events.length > 1 && events.every(({ where }) => where === undefined);
  const appended = isMany ? rowsOf(events) : join(events.map(rowOf), ' UNION ALL ');
  return sql`${changing}
    INSERT INTO outbox (${raw(APPENDED_COLUMNS)}) ${appended}`;
}

function rowOf(event: ConditionalEvent<EventType>): Sql {
  const row = toAppendedRow(event);
  const payload = JSON.stringify(row.payload);
  requireSendable(row.name, payload);
  return sql`
    SELECT ${row.tenant_id}::uuid, ${row.id}::uuid, ${row.name}, ${row.subject},
      ${payload}::jsonb, ${row.actor_id}, ${row.actor_name}, ${row.traceparent}, ${NOW}
    WHERE ${event.where ?? ALWAYS}`;
}

/** As one value, so that the statement is the same for any number of events. */
function rowsOf(events: readonly NewEvent<EventType>[]): Sql {
  const rows = events.map(toAppendedRow);
  const text = JSON.stringify(rows);
  // None of few small ones is large.
  if (!isSendable(text)) for (const { name, payload } of rows) requireSendable(name, JSON.stringify(payload));
  return sql`
  SELECT *, ${NOW} FROM jsonb_to_recordset(${text}::jsonb)
    AS event (tenant_id uuid, id uuid, name text, subject text, payload jsonb, actor_id text, actor_name text,
      traceparent text)`;
}

const isSendable = (json: string): boolean => Buffer.byteLength(json) <= PAYLOAD_BYTES_MAX;

function requireSendable(name: string, payload: string): void {
  if (isSendable(payload)) return;
  throw new RangeError(`An event ${name} has more than ${PAYLOAD_BYTES_MAX} bytes; publish several.`);
}

/** Not the time of the transaction, which may begin before what it follows was committed. */
const NOW = sql`clock_timestamp()`;
const ALWAYS = sql`true`;
/** The rows that the first change of a statement changed, and whether there are any. */
const DECIDED = sql`SELECT FROM change_0`;
const IS_DECIDED = sql`EXISTS (${DECIDED})`;

/**
 * Always holds, but only after the change at this place of the same statement took place, which has a `RETURNING`: for
 * changes whose order matters to a unique index. Postgres makes all others in any order.
 */
export const afterChange = (place: number): Sql => sql`(SELECT count(*) FROM ${raw(`change_${place}`)}) >= 0`;
const APPENDED_COLUMNS =
  'tenant_id, id, name, subject, payload, actor_id, actor_name, traceparent, occurred_at';

const toAppendedRow = <E extends EventType>({ type, tenantId, subject, payload, actor }: NewEvent<E>) => ({
  tenant_id: tenantId,
  id: newId(),
  name: type.name,
  subject,
  payload: type.payload.parse(payload),
  actor_id: actor?.userId ?? null,
  actor_name: actor?.userName ?? null,
  traceparent: currentTraceparent() ?? null,
});

interface OutboxRow {
  tenant_id: string;
  id: string;
  sequence: bigint;
  name: string;
  subject: string;
  payload: unknown;
  actor_id: string | null;
  actor_name: string | null;
  traceparent: string | null;
  occurred_at: Date;
}

const COLUMNS =
  'tenant_id, id, sequence, name, subject, payload, actor_id, actor_name, traceparent, occurred_at';

/** What reconciliation asks about, without the payload: there may be many. */
type DueRow = Pick<OutboxRow, 'tenant_id' | 'id' | 'sequence' | 'name'>;

const bySequence = (one: DueRow, other: DueRow): number => (one.sequence < other.sequence ? -1 : 1);

/**
 * How long a payload is stored, which is not compressed. Its length as text would read and convert each long one, of all
 * rows that might be published, to publish a few.
 */
const PAYLOAD_BYTES = 'pg_column_size(payload)';

/**
 * Of rows, in their order, the first ones that are not too long together, but at least one. Where rows were locked, so are
 * those that are left, and other relays pass over them until the end of the transaction.
 */
const firstOf = (columns: string, rows: string): string => `
  SELECT ${columns} FROM (
    SELECT *, sum(${PAYLOAD_BYTES}) OVER (ORDER BY sequence) - ${PAYLOAD_BYTES} AS bytes_before
    FROM (${rows}) AS next) AS counted
  WHERE bytes_before < ${BATCH_BYTES_MAX}`;

/** Rows by their key, as the first two arguments of a statement. */
const NAMED = 'unnest($1::uuid[], $2::uuid[]) AS named (tenant_id, id)';
const namesOf = (rows: readonly DueRow[]) => [
  rows.map(({ tenant_id }) => tenant_id),
  rows.map(({ id }) => id),
];

export interface OutboxRelay {
  /** Something was committed; publish it now. */
  wake(): void;
  close: Close;
}

/** The same database, whose transactions wake the relay after their commit where they published. */
export function wakingRelay<Tx extends RawStatements>(
  db: TenantDatabase<Tx>,
  relay: Pick<OutboxRelay, 'wake'>,
): TenantDatabase<Tx> {
  type Work<Result> = (tx: Tx) => Promise<Result>;
  const waking = async <Result>(run: (work: Work<Result>) => Promise<Result>, work: Work<Result>) => {
    let isPublishing = false;
    const result = await run(async (tx) => {
      const value = await work(tx);
      isPublishing = hasPublished(tx);
      return value;
    });
    if (isPublishing) relay.wake();
    return result;
  };
  return {
    inTenant: (tenantId, work, planning) => waking((one) => db.inTenant(tenantId, one, planning), work),
    inPlatform: (work) => waking((one) => db.inPlatform(one), work),
  };
}

/** Starts publishing the events of one service's outbox, and reconciling them with its consumers. */
export function startOutboxRelay(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  log: Log,
  timing: Partial<RelayTiming> = {},
): OutboxRelay {
  const { pollMilliseconds, reconcileMilliseconds, surveyMilliseconds, confirmSeconds } = {
    ...usualTiming,
    ...timing,
  };
  // Whether events may wait to be confirmed, and when to look whether others left any.
  let hasOpen = false;
  let surveyAt = 0;
  const relay = backgroundTask(
    async () => {
      // Rows that were marked as published and rolled back, each second, would only bloat the table.
      if (messaging.connecting) return false;
      const { count, isFull } = await publishBatch(db, messaging, confirmSeconds);
      if (count > 0) hasOpen = true;
      return isFull;
    },
    { name: 'outbox publish', intervalMilliseconds: pollMilliseconds, log, ...RELAY_PACE },
  );
  const reconciliation = backgroundTask(
    async () => {
      if (messaging.connecting) return false;
      const isSurvey = performance.now() >= surveyAt;
      if (!isSurvey && !hasOpen) return false;
      // What is published meanwhile opens it again.
      hasOpen = false;
      try {
        const { isOpen, hasMore } = await reconcile(db, messaging, { confirmSeconds, isSurvey }, log);
        hasOpen ||= isOpen;
        if (isSurvey && !hasMore) surveyAt = performance.now() + surveyMilliseconds;
        return hasMore;
      } catch (error) {
        hasOpen = true;
        throw error;
      }
    },
    { name: 'outbox reconciliation', intervalMilliseconds: reconcileMilliseconds, log },
  );
  relay.wake();
  return {
    wake: relay.wake,
    close: async () => {
      await Promise.all([relay.close(), reconciliation.close()]);
    },
  };
}

/** Publishes the first events that wait; returns how many, and whether there may be more. */
async function publishBatch(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  confirmSeconds: number,
): Promise<{ count: number; isFull: boolean }> {
  return db.inPlatform(async (tx) => {
    await readByIndexes(tx);
    // Where Postgres forgets it, the events are published again under the same message ids.
    await commitWithoutWaiting(tx);
    await send(tx, 'SELECT pg_advisory_xact_lock_shared(hashtext($1))', SUBSCRIPTIONS_LOCK);
    // Rows by their place in the table, which no plan can look for in a slower way.
    const rows = await tx.$queryRawUnsafe<(OutboxRow & { bytes: number })[]>(
      `UPDATE outbox SET published_at = now(),
         check_at = CASE WHEN name = ANY (ARRAY (SELECT name FROM event_subscription))
           THEN now() + make_interval(secs => $1::integer) END
       WHERE ctid = ANY (ARRAY (${firstOf('ctid', NEXT_UNPUBLISHED)}))
       RETURNING ${COLUMNS}, ${PAYLOAD_BYTES} AS bytes`,
      confirmSeconds,
    );
    const count = rows.length;
    if (count === 0) return { count, isFull: false };
    // A server that is away is noticed before a batch of publications waits for it.
    await messaging.check();
    await publish(messaging, rows.sort(bySequence), ({ id }) => id);
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    return { count, isFull: count === BATCH_SIZE || bytes >= BATCH_BYTES_MAX };
  });
}

const NEXT_UNPUBLISHED = `
  SELECT ctid, sequence, payload FROM outbox WHERE published_at IS NULL ORDER BY sequence LIMIT ${BATCH_SIZE}
  FOR UPDATE SKIP LOCKED`;

/** What a pass of the reconciliation left: events that are to be asked for later, and such that are due now. */
interface Reconciled {
  isOpen: boolean;
  hasMore: boolean;
}

/**
 * Asks consumers whether published events arrived, and publishes again those that are missing. One process at a time
 * does so, since what it concludes depends on the subscriptions that it saw. A survey also deletes expired events and
 * looks for new subscriptions where no event is due.
 */
async function reconcile(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  { confirmSeconds, isSurvey }: { confirmSeconds: number; isSurvey: boolean },
  log: Log,
): Promise<Reconciled> {
  return db.inPlatform(async (tx) => {
    await readByIndexes(tx);
    const [[lock], rows, next] = await Promise.all([
      tx.$queryRawUnsafe<{ taken: boolean }[]>(
        `SELECT pg_try_advisory_xact_lock(hashtext('outbox reconciliation')) AS taken`,
      ),
      tx.$queryRawUnsafe<DueRow[]>(
        `SELECT tenant_id, id, sequence, name FROM outbox
         WHERE check_at <= now() ORDER BY check_at LIMIT ${RECONCILED_MAX}`,
      ),
      tx.$queryRawUnsafe<unknown[]>('SELECT FROM outbox WHERE check_at > now() ORDER BY check_at LIMIT 1'),
    ]);
    if (!lock!.taken) return { isOpen: true, hasMore: false };
    const left = { isOpen: rows.length + next.length > 0, hasMore: false };
    if (rows.length === 0 && !isSurvey) return left;
    const expired = isSurvey ? await deleteExpired(tx) : 0;
    await messaging.check();
    const subscriptions = await findSubscriptions(messaging);
    // Without a stream nothing says who subscribes; whoever restores it does so within seconds.
    if (!subscriptions) return { ...left, isOpen: true };
    const rechecked = await recheckForNewSubscriptions(tx, subscriptions, confirmSeconds);
    if (rows.length === 0) return { isOpen: left.isOpen || rechecked, hasMore: expired === RECONCILED_MAX };
    const { missing, unknown } = await findMissingEvents(messaging, subscriptions, rows);
    const lost = rows.filter(({ id }) => missing.has(id)).sort(bySequence);
    if (lost.length > 0) log.warn({ count: lost.length }, 'events did not arrive; publishing them again');
    await publishAgain(tx, messaging, lost);
    await tx.$executeRawUnsafe(
      `UPDATE outbox SET check_at = CASE
         WHEN outbox.id = ANY($3::uuid[]) THEN now() + make_interval(secs => $5::integer)
         WHEN outbox.id = ANY($4::uuid[]) THEN now() + GREATEST(make_interval(secs => $5::integer),
           LEAST(now() - outbox.occurred_at, make_interval(secs => $5::integer * ${PATIENCE}))) END
       FROM ${NAMED} WHERE outbox.tenant_id = named.tenant_id AND outbox.id = named.id`,
      ...namesOf(rows),
      [...missing],
      [...unknown],
      confirmSeconds,
    );
    // Where no consumer responded, asking about the next events would tell no more just now.
    const hasMoreDue = rows.length === RECONCILED_MAX && unknown.size < rows.length;
    return { isOpen: true, hasMore: hasMoreDue || expired === RECONCILED_MAX };
  });
}

/** Publishes events that were published before, some at a time. */
async function publishAgain(tx: RawStatements, messaging: Messaging, lost: readonly DueRow[]): Promise<void> {
  for (let left = lost; left.length > 0;) {
    const named = `SELECT outbox.* FROM outbox JOIN ${NAMED} USING (tenant_id, id)`;
    const next = namesOf(left.slice(0, BATCH_SIZE));
    const rows = await tx.$queryRawUnsafe<OutboxRow[]>(firstOf(COLUMNS, named), ...next);
    // With the first message id JetStream would drop them as duplicates.
    await publish(messaging, rows.sort(bySequence), ({ id }) => `${id}.${newId()}`);
    // There is none where all of them are too old, and were deleted.
    const last = rows.at(-1);
    left = last ? left.filter(({ sequence }) => sequence > last.sequence) : left.slice(BATCH_SIZE);
  }
}

/** Deletes the oldest events that were stored long enough; returns how many. */
const deleteExpired = (tx: RawStatements): Promise<number> =>
  tx.$executeRawUnsafe(
    `DELETE FROM outbox WHERE (tenant_id, id) IN (
       SELECT tenant_id, id FROM outbox WHERE occurred_at < now() - interval '${RETENTION_DAYS} days'
         AND published_at IS NOT NULL ORDER BY occurred_at LIMIT ${RECONCILED_MAX})`,
  );

/**
 * Has published events reconciled again for subscriptions that were not there the last time, or were made again: what
 * the stream lost before is nobody else's to notice. Returns whether there were any.
 */
async function recheckForNewSubscriptions(
  tx: RawStatements,
  subscriptions: readonly EventSubscription[],
  confirmSeconds: number,
): Promise<boolean> {
  const added = await tx.$queryRawUnsafe<{ name: string }[]>(
    `WITH current AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS subscription (consumer text, name text, created_at timestamptz)
     ), removed AS (
       DELETE FROM event_subscription AS known WHERE NOT EXISTS (
         SELECT FROM current WHERE current.consumer = known.consumer AND current.name = known.name)
     )
     INSERT INTO event_subscription AS known (consumer, name, created_at) SELECT * FROM current
     ON CONFLICT (tenant_id, consumer, name) DO UPDATE SET created_at = excluded.created_at
       WHERE known.created_at <> excluded.created_at
     RETURNING name`,
    JSON.stringify(subscriptions),
  );
  if (added.length === 0) return false;
  // Relays that do not know these subscriptions yet end first.
  await send(tx, 'SELECT pg_advisory_xact_lock(hashtext($1))', SUBSCRIPTIONS_LOCK);
  await tx.$executeRawUnsafe(
    `UPDATE outbox SET check_at = now() + make_interval(secs => $2::integer)
     WHERE name = ANY($1::text[]) AND published_at IS NOT NULL AND check_at IS NULL`,
    added.map(({ name }) => name),
    confirmSeconds,
  );
  return true;
}

/** Publishes all rows. The stream may have been deleted; then it is made again and the publication repeated once. */
async function publish(
  messaging: Messaging,
  rows: readonly OutboxRow[],
  messageIdOf: (row: OutboxRow) => string,
): Promise<void> {
  const publishAll = () =>
    Promise.all(
      rows.map((row) => {
        const subject = subjectOf(messaging.prefix, row.name);
        const body = JSON.stringify(toEnvelope(row));
        const headers = signMessage(subject, body, messaging.keys);
        return messaging.jetstream.publish(subject, body, { msgID: messageIdOf(row), headers });
      }),
    );
  try {
    await publishAll();
  } catch {
    await ensureStream(messaging);
    await publishAll();
  }
}

const toEnvelope = (row: OutboxRow): EventEnvelope => ({
  id: row.id,
  name: row.name,
  tenantId: row.tenant_id,
  subject: row.subject,
  sequence: Number(row.sequence),
  occurredAt: row.occurred_at.toISOString(),
  actorId: row.actor_id,
  actorName: row.actor_name,
  ...(row.traceparent !== null && { traceparent: row.traceparent }),
  payload: row.payload,
});
