/**
 * Events leave a service through its outbox.
 *
 * A change and its event are written in one transaction, so neither exists without the other. A relay in each process
 * then publishes what is not published yet, oldest first, in the transaction that marks it as published. It is woken
 * after commits of its own process and also runs at an interval, so an event is late at worst, never lost. Two relays
 * never take the same row (`FOR UPDATE SKIP LOCKED`); after a crash between a publication and its record the event is
 * published again with the same message id, and consumers have an inbox.
 *
 * While more events wait than a pass takes, some of the passes take those of other tenants than the passes before, so that
 * what one tenant has does not wait for all that another one left.
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
import { forPlatform } from '../process/current-work';
import { inTime } from '../process/in-time';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';
import { PacedWork } from '../process/paced-work';
import { ensureStream, RETENTION_DAYS, subjectOf, type Messaging } from './nats';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { commitWithoutWaiting } from '../postgres/commit-without-waiting';
import { readByIndexes } from '../postgres/read-by-indexes';
import { TRANSACTION_IS_NUMBERED } from '../postgres/numbered-transaction';
import { empty, join, raw, send, sendQuery, sql, type Sql } from '../postgres/raw-statements';
import { findMissingEvents, findSubscriptions, type EventSubscription } from './reconciliation';
import { PublishedPlaces, type Pass, type Snapshot } from './published-places';
import { currentTraceparent } from '../process/tracing';
import { signMessage } from './signed-message';

const BATCH_SIZE = 200;
/** Of events that are in memory to be published; each takes several times its bytes, and imports publish long ones. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Among so many events that wait, those of other tenants are looked for, where tenants take turns; half as many after each
 * pass that took longer than that, as where the rows come from a slow disk.
 */
const LOOKED_AT_MAX = 500_000n;
const LOOKED_AT_MIN = 10_000n;
const LOOKING_MILLISECONDS = 2_000;
/** So many tenants have a turn before the next one of those that waited longest. */
const TURNS_MAX = 100;
const SEQUENCE_MAX = 2n ** 63n - 1n;
/**
 * Under load a pass publishes what many requests left. A failed pass is tried again soon, while polls may be slow: they
 * find what a process left that died between its commit and its wake.
 */
const RELAY_PACE = { pauseMilliseconds: 10, retryMilliseconds: 1_000 };
/** As often a poll looks through all of the outbox, whatever happened to the database meanwhile. */
const FORGET_MILLISECONDS = 3_600_000;
/** How long a process that stops publishes what was committed meanwhile. */
const LAST_PASSES_MILLISECONDS = 2_000;
const RECONCILED_MAX = 1_000;
/** How many events are looked at in one statement on behalf of new subscriptions. */
const RECHECKED_MAX = 10_000;
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

/** A statement that is sent; what became of it is known when its transaction has ended, which need not wait for it. */
export interface Writing<Found = unknown> {
  isWritten: Promise<boolean>;
  /** What it found where nothing was written. */
  found: Promise<Found | undefined>;
}

/** Statements of which all depend on one change. */
export interface ComparedChange {
  /** May find nothing to change; it has no `RETURNING`. */
  decisive: Sql;
  /** What else changes; each of its statements has this condition. */
  toOthers: (isDecided: Sql) => readonly Sql[];
  /** Columns of what to find where nothing is changed, as it was when the statement began. */
  otherwise?: Sql;
}

/**
 * The same, where all of it depends on one change: where that changes no row, nothing is written. A compare-and-set takes
 * one statement so, together with what it leads to.
 * @throws ZodError when a payload is not what the catalogue of events says, and RangeError when it has more than
 * `PAYLOAD_BYTES_MAX` bytes as JSON: bugs of the publisher.
 */
export function compareAndWrite<Found>(
  tx: RawStatements,
  { decisive, toOthers, otherwise = empty }: ComparedChange,
  ...events: readonly NewEvent<EventType>[]
): Writing<Found> {
  const changes = [sql`${decisive} RETURNING true`, ...toOthers(IS_DECIDED)];
  if (events.length > 0)
    changes.push(
      appended(
        tx,
        events.map((event) => ({ ...event, where: IS_DECIDED })),
      ),
    );
  const { text, values } = sql`${withChanges(changes)} SELECT ${otherwise} WHERE NOT ${IS_DECIDED}`;
  const rows = sendQuery<Found[]>(tx, text, ...values);
  const isWritten = rows.then(({ length }) => length === 0);
  const found = rows.then(([row]) => row);
  // Their failure is found at the end of the transaction.
  for (const result of [isWritten, found]) result.catch(() => undefined);
  return { isWritten, found };
}

function statementWithEvents(
  tx: RawStatements,
  changes: readonly Sql[],
  events: readonly ConditionalEvent<EventType>[],
): Sql {
  const appending = events.length > 0 ? appended(tx, events) : sql`SELECT`;
  return changes.length > 0 ? sql`${withChanges(changes)} ${appending}` : appending;
}

const withChanges = (changes: readonly Sql[]): Sql => {
  const named = changes.map((change, index) => sql`${raw(`change_${index}`)} AS (${change})`);
  return join(named, ', ', 'WITH ');
};

function appended(tx: RawStatements, events: readonly ConditionalEvent<EventType>[]): Sql {
  publishing.add(tx);
  const isMany = events.length > 1 && events.every(({ where }) => where === undefined);
  const rows = isMany ? rowsOf(events) : join(events.map(rowOf), ' UNION ALL ');
  return sql`
    INSERT INTO outbox (${raw(APPENDED_COLUMNS)}) ${rows}`;
}

function rowOf(event: ConditionalEvent<EventType>): Sql {
  const row = toAppendedRow(event);
  const payload = JSON.stringify(row.payload);
  requireSendable(row.name, payload);
  return sql`
    SELECT ${row.tenant_id}::uuid, ${row.id}::uuid, ${row.name}, ${row.subject},
      ${payload}::jsonb, ${row.actor_id}, ${row.actor_name}, ${row.traceparent}, ${NOW}
    WHERE ${event.where ?? ALWAYS} AND ${IS_NUMBERED}`;
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
      traceparent text)
  WHERE ${IS_NUMBERED}`;
}

const isSendable = (json: string): boolean => Buffer.byteLength(json) <= PAYLOAD_BYTES_MAX;

function requireSendable(name: string, payload: string): void {
  if (isSendable(payload)) return;
  throw new RangeError(`An event ${name} has more than ${PAYLOAD_BYTES_MAX} bytes; publish several.`);
}

/** Not the time of the transaction, which may begin before what it follows was committed. */
const NOW = sql`clock_timestamp()`;
const ALWAYS = sql`true`;
const IS_NUMBERED = raw(TRANSACTION_IS_NUMBERED);
/** Whether the first change of a statement changed a row. */
const IS_DECIDED = sql`EXISTS (SELECT FROM change_0)`;

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

export interface RelayWaking {
  /** The place in the outbox behind which a transaction that begins now writes its events. */
  place(): bigint;
  /**
   * Something was committed; publish it now.
   * @param after `place` before its transaction began; without it all of the outbox is looked through
   */
  wake(after?: bigint): void;
}

export interface OutboxRelay extends RelayWaking {
  close: Close;
}

/**
 * The same database, whose transactions wake the relay after their commit where they published; also after one whose answer
 * was lost, since it may have succeeded.
 */
export function wakingRelay<Tx extends RawStatements>(
  db: TenantDatabase<Tx>,
  relay: RelayWaking,
): TenantDatabase<Tx> {
  type Work<Result> = (tx: Tx) => Promise<Result>;
  const waking = async <Result>(run: (work: Work<Result>) => Promise<Result>, work: Work<Result>) => {
    let publishedAfter: bigint | undefined;
    try {
      return await run(async (tx) => {
        const place = relay.place();
        publishedAfter = undefined;
        const value = await work(tx);
        if (hasPublished(tx)) publishedAfter = place;
        return value;
      });
    } finally {
      if (publishedAfter !== undefined) relay.wake(publishedAfter);
    }
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
  const places = new PublishedPlaces();
  // The tenants of the last pass, where more waited than it took, and those that had a turn since all could have one.
  let lastTenants: readonly string[] = [];
  let tenantsBefore: readonly string[] = [];
  // Passes over what those left, however much that is.
  let lookedAt = LOOKED_AT_MAX;
  const otherTenants = new PacedWork(async (bounds: BatchBounds) => {
    const begunAt = performance.now();
    const looked = lookedAt;
    // One that fails may have had no time for as many.
    lookedAt = looked / 2n > LOOKED_AT_MIN ? looked / 2n : LOOKED_AT_MIN;
    const batch = await publishBatch(db, messaging, { ...bounds, upTo: bounds.after + looked });
    if (performance.now() - begunAt < LOOKING_MILLISECONDS)
      lookedAt = looked * 2n < LOOKED_AT_MAX ? looked * 2n : LOOKED_AT_MAX;
    return batch;
  });
  let pollAt = 0;
  let forgetAt = 0;
  let hasFailed = false;
  // Whether events may wait that no pass has looked for.
  let isDue = false;
  // How far reconciliation has come here, whether its next pass goes on there, and when it begins at the first event again.
  let done: Reach = {};
  let isContinued = false;
  let restartAt = 0;
  const takePass = async (): Promise<boolean> => {
    // Rows that were marked as published and rolled back, each second, would only bloat the table.
    if (messaging.connecting) return false;
    if (hasFailed) await messaging.check();
    const now = performance.now();
    if (now >= forgetAt) {
      places.forget();
      forgetAt = now + FORGET_MILLISECONDS;
    }
    const isPoll = now >= pollAt;
    const after = places.next(isPoll);
    isDue = false;
    try {
      const isOfOthers = lastTenants.length > 0 && otherTenants.isRested;
      const except = isOfOthers ? [...new Set([...tenantsBefore, ...lastTenants])] : [];
      lastTenants = [];
      const bounds = { confirmSeconds, after, upTo: SEQUENCE_MAX, isPoll, except };
      const batch = await (isOfOthers ? otherTenants.do(bounds) : publishBatch(db, messaging, bounds));
      const { pass, server, snapshot, isFull } = batch;
      if (isFull) lastTenants = batch.tenants;
      // When nobody is left who had no turn, all may have one again.
      if (isOfOthers)
        tenantsBefore = isFull && except.length < TURNS_MAX ? [...except, ...batch.tenants] : [];
      places.done(pass, snapshot);
      const isElsewhere = places.isElsewhere(server);
      hasFailed = false;
      // The interval is not exactly as long as it should be.
      if (isPoll) pollAt = now + 0.9 * pollMilliseconds;
      if (pass.taken) hasOpen = true;
      const hasMore = isFull || isElsewhere || isOfOthers;
      isDue ||= hasMore;
      return hasMore;
    } catch (error) {
      hasFailed = true;
      isDue = true;
      places.wake(after);
      throw error;
    }
  };
  const relay = backgroundTask(takePass, {
    name: 'outbox publish',
    intervalMilliseconds: pollMilliseconds,
    log,
    ...RELAY_PACE,
  });
  /** What was committed when the last pass had begun: only a poll of another process would find it. */
  const takeLastPasses = async (): Promise<void> => {
    const endsAt = performance.now() + LAST_PASSES_MILLISECONDS;
    try {
      while (isDue && (await takePass()) && performance.now() < endsAt);
    } catch (error) {
      log.warn({ err: error }, 'outbox publish failed; another process will publish what is left');
    }
  };
  const reconciliation = backgroundTask(
    async () => {
      if (messaging.connecting) return false;
      const now = performance.now();
      const isSurvey = now >= surveyAt;
      if (!isSurvey && !hasOpen) return false;
      if (now >= restartAt) {
        done = {};
        restartAt = now + FORGET_MILLISECONDS;
      }
      // What is published meanwhile opens it again.
      hasOpen = false;
      try {
        const from = isSurvey && !isContinued ? surveyFrom(done) : done;
        const reached = (reach: Reach) => {
          done = { ...done, ...reach };
        };
        const { isOpen, hasMore } = await reconcile(
          db,
          messaging,
          { confirmSeconds, isSurvey, from },
          reached,
          log,
        );
        hasOpen ||= isOpen;
        isContinued = hasMore;
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
  // What was committed before that waits for nothing else.
  void messaging.connecting?.then(relay.wake);
  return {
    place: () => places.place(),
    wake: (after = 0n) => {
      isDue = true;
      places.wake(after);
      relay.wake();
    },
    close: async () => {
      const reconciled = reconciliation.close();
      await relay.close();
      await inTime(LAST_PASSES_MILLISECONDS, forPlatform(takeLastPasses), () => undefined);
      await reconciled;
    },
  };
}

interface PublishedBatch {
  pass: Pass;
  /** Which server of the database it was. */
  server: string;
  /** Of a poll. */
  snapshot?: Snapshot | undefined;
  /** There may be more. */
  isFull: boolean;
  tenants: string[];
}

interface BatchBounds {
  confirmSeconds: number;
  /** Only events behind this place, up to another one. */
  after: bigint;
  upTo: bigint;
  isPoll: boolean;
  /** Tenants whose events are passed over. */
  except: readonly string[];
}

/** Publishes the first events behind a place that wait. */
async function publishBatch(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  { confirmSeconds, after, upTo, isPoll, except }: BatchBounds,
): Promise<PublishedBatch> {
  return db.inPlatform(async (tx) => {
    await readByIndexes(tx);
    // Where Postgres forgets it, the events are published again under the same message ids.
    await commitWithoutWaiting(tx);
    await send(tx, 'SELECT pg_advisory_xact_lock_shared(hashtext($1))', SUBSCRIPTIONS_LOCK);
    const [snapshot, found] = await Promise.all([
      isPoll ? readSnapshot(tx) : undefined,
      tx.$queryRawUnsafe<MarkedRow[]>(MARK_NEXT, confirmSeconds, after, except, upTo),
    ]);
    const { server } = found[0]!;
    const left = found[0]!.left ?? undefined;
    const rows = found.filter(isMarked).sort(bySequence);
    if (rows.length === 0) return { pass: { left }, server, snapshot, isFull: false, tenants: [] };
    // A server that is away is noticed before a batch of publications waits for it.
    await messaging.check();
    await publish(messaging, rows, ({ id }) => id);
    const taken = { first: rows[0]!.sequence, last: rows.at(-1)!.sequence };
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    const isFull = rows.length === BATCH_SIZE || bytes >= BATCH_BYTES_MAX;
    const tenants = [...new Set(rows.map(({ tenant_id }) => tenant_id))];
    return { pass: { taken, left }, server, snapshot, isFull, tenants };
  });
}

/** One that was marked as published, or of none. */
type MarkedRow = { left: bigint | null; server: string } & ((OutboxRow & { bytes: number }) | { id: null });
const isMarked = (row: MarkedRow): row is Extract<MarkedRow, OutboxRow> => row.id !== null;

/**
 * What a tenant has is taken in its order, so that events of one entity, which has one tenant, stay in theirs. A query of
 * the tenants is hashed by every plan, a list of them only by one for its values.
 */
const NEXT_UNPUBLISHED = `
  SELECT ctid, sequence, payload FROM outbox
  WHERE published_at IS NULL AND sequence > $2 AND sequence <= $4::bigint
    AND tenant_id NOT IN (SELECT unnest($3::uuid[]))
  ORDER BY sequence LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED`;

/** Marks rows by their place in the table, which no plan can look for in a slower way. */
const MARK_NEXT = `
  WITH taken AS MATERIALIZED (${firstOf('ctid, sequence', NEXT_UNPUBLISHED)}),
  marked AS (
    UPDATE outbox SET published_at = now(),
      check_at = CASE WHEN name = ANY (ARRAY (SELECT name FROM event_subscription))
        THEN now() + make_interval(secs => $1::integer) END
    WHERE ctid = ANY (ARRAY (SELECT ctid FROM taken))
    RETURNING ${COLUMNS}, ${PAYLOAD_BYTES} AS bytes)
  SELECT marked.*, (
    SELECT sequence FROM outbox WHERE published_at IS NULL AND sequence > $2
      AND sequence NOT IN (SELECT sequence FROM taken) ORDER BY sequence LIMIT 1) AS left,
    pg_postmaster_start_time()::text AS server
  FROM (VALUES (true)) AS always LEFT JOIN marked ON true`;

async function readSnapshot(tx: RawStatements): Promise<Snapshot> {
  const [row] = await tx.$queryRawUnsafe<Record<keyof Snapshot, string>[]>(
    `SELECT pg_snapshot_xmin(snapshot)::text AS oldest, pg_snapshot_xmax(snapshot)::text AS next
     FROM pg_current_snapshot() AS snapshot`,
  );
  return { oldest: BigInt(row!.oldest), next: BigInt(row!.next) };
}

/**
 * Up to which time everything was reconciled or deleted that was due, as far as a process knows: it goes on from there,
 * past the index entries of all that was done before (`PublishedPlaces` says why they are still there).
 */
interface Reach {
  dueTo?: Date;
  expiredTo?: Date;
}

/** No transaction that sets a time to ask takes nearly as long until its commit. */
const LATE_MILLISECONDS = 600_000;

/** Surveys find what was committed later than it was due. */
const surveyFrom = ({ dueTo, ...others }: Reach): Reach =>
  dueTo ? { ...others, dueTo: new Date(dueTo.getTime() - LATE_MILLISECONDS) } : others;

const timeOf = (from: Date | undefined): string => from?.toISOString() ?? '-infinity';

/** What a pass of the reconciliation left: events that are to be asked for later, and such that are due now. */
interface Reconciled {
  isOpen: boolean;
  hasMore: boolean;
}

/** What consumers are asked, and what is left to be done for it. */
interface ReconciliationOptions {
  confirmSeconds: number;
  isSurvey: boolean;
  from: Reach;
}

/**
 * Asks consumers whether published events arrived, and publishes again those that are missing. A survey also deletes
 * expired events, looks for new subscriptions where no event is due, and has events asked for that these may have missed.
 * Each of this has a transaction of its own, so that one that fails, or has much to do, keeps none of the others from it.
 * @param reached is called with what a transaction has reached, as soon as that is committed
 */
async function reconcile(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  { from, ...options }: ReconciliationOptions,
  reached: (reach: Reach) => void,
  log: Log,
): Promise<Reconciled> {
  const { isSurvey, confirmSeconds } = options;
  const expired = isSurvey ? await alone(db, (tx) => deleteExpired(tx, from)) : undefined;
  if (expired?.upTo) reached({ expiredTo: expired.upTo });
  const reconciled = await alone(db, (tx) => reconcileDue(tx, messaging, { from, ...options }, log));
  if (reconciled?.dueTo) reached({ dueTo: reconciled.dueTo });
  const rechecked = isSurvey ? await alone(db, (tx) => recheckNext(tx, confirmSeconds)) : undefined;
  // Where another process reconciles, it may leave some.
  const { isOpen, hasMore } = reconciled ?? { isOpen: true, hasMore: false };
  return {
    isOpen: isOpen || rechecked === true,
    hasMore: hasMore || expired?.count === RECONCILED_MAX || rechecked === true,
  };
}

/**
 * One process at a time reconciles, since what it concludes depends on the subscriptions that it saw; undefined where
 * another one does.
 */
const alone = <Result>(
  db: TenantDatabase<RawStatements>,
  work: (tx: RawStatements) => Promise<Result>,
): Promise<Result | undefined> =>
  db.inPlatform(async (tx) => {
    await readByIndexes(tx);
    const [lock] = await tx.$queryRawUnsafe<{ taken: boolean }[]>(
      `SELECT pg_try_advisory_xact_lock(hashtext('outbox reconciliation')) AS taken`,
    );
    return lock!.taken ? work(tx) : undefined;
  });

async function reconcileDue(
  tx: RawStatements,
  messaging: Messaging,
  { confirmSeconds, isSurvey, from }: ReconciliationOptions,
  log: Log,
): Promise<Reconciled & { dueTo?: Date }> {
  const [[read], rows, next] = await Promise.all([
    tx.$queryRawUnsafe<{ now: Date }[]>('SELECT now() AS now'),
    tx.$queryRawUnsafe<(DueRow & { check_at: Date })[]>(DUE, timeOf(from.dueTo)),
    tx.$queryRawUnsafe<unknown[]>('SELECT FROM outbox WHERE check_at > now() ORDER BY check_at LIMIT 1'),
  ]);
  const dueTo = rows.length === RECONCILED_MAX ? rows.at(-1)!.check_at : read!.now;
  const left = { isOpen: rows.length + next.length > 0, hasMore: false };
  if (rows.length === 0 && !isSurvey) return { ...left, dueTo };
  await messaging.check();
  const subscriptions = await findSubscriptions(messaging);
  // Without a stream nothing says who subscribes; whoever restores it does so within seconds.
  if (!subscriptions) return { ...left, isOpen: true };
  // Relays wait until it is committed that there are new ones.
  if (await recordSubscriptions(tx, subscriptions)) return { isOpen: true, hasMore: true };
  if (rows.length === 0) return { ...left, dueTo };
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
  const hasMore = rows.length === RECONCILED_MAX && unknown.size < rows.length;
  return { dueTo, isOpen: true, hasMore };
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

const DUE = `
  SELECT tenant_id, id, sequence, name, check_at FROM outbox
  WHERE check_at >= $1::timestamptz AND check_at <= now() ORDER BY check_at LIMIT ${RECONCILED_MAX}`;

/** Deletes the oldest events that were stored long enough; returns how many, and how old the last one was. */
async function deleteExpired(
  tx: RawStatements,
  { expiredTo }: Reach,
): Promise<{ count: number; upTo: Date | null }> {
  const [deleted] = await tx.$queryRawUnsafe<{ count: number; upTo: Date | null }[]>(
    `WITH deleted AS (
       DELETE FROM outbox WHERE (tenant_id, id) IN (
         SELECT tenant_id, id FROM outbox
         WHERE occurred_at >= $1::timestamptz AND occurred_at < now() - interval '${RETENTION_DAYS} days'
           AND published_at IS NOT NULL ORDER BY occurred_at LIMIT ${RECONCILED_MAX})
       RETURNING occurred_at)
     SELECT count(*)::integer AS count, max(occurred_at) AS "upTo" FROM deleted`,
    timeOf(expiredTo),
  );
  return deleted!;
}

/**
 * Records who subscribes. What was published before is to be reconciled again for subscriptions that were not there the
 * last time, or were made again: what the stream lost before is nobody else's to notice. Returns whether there are any.
 */
async function recordSubscriptions(
  tx: RawStatements,
  subscriptions: readonly EventSubscription[],
): Promise<boolean> {
  const added = await tx.$queryRawUnsafe<unknown[]>(
    `WITH current AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS subscription (consumer text, name text, created_at timestamptz)
     ), removed AS (
       DELETE FROM event_subscription AS known WHERE NOT EXISTS (
         SELECT FROM current WHERE current.consumer = known.consumer AND current.name = known.name)
     )
     INSERT INTO event_subscription AS known (consumer, name, created_at, rechecked_to)
       SELECT *, '-infinity' FROM current
     ON CONFLICT (tenant_id, consumer, name)
       DO UPDATE SET created_at = excluded.created_at, rechecked_to = excluded.rechecked_to
       WHERE known.created_at <> excluded.created_at
     RETURNING name`,
    JSON.stringify(subscriptions),
  );
  if (added.length === 0) return false;
  // Relays that do not know these subscriptions yet end first; those that begin after the commit know them.
  await send(tx, 'SELECT pg_advisory_xact_lock(hashtext($1))', SUBSCRIPTIONS_LOCK);
  return true;
}

/**
 * Has the next events of the outbox, in the order of their age, asked for on behalf of new subscriptions. A week of events
 * is more than one statement has time for. Returns whether there may be more.
 */
async function recheckNext(tx: RawStatements, confirmSeconds: number): Promise<boolean> {
  const advanced = await tx.$queryRawUnsafe<unknown[]>(RECHECK_NEXT, confirmSeconds);
  return advanced.length > 0;
}

/** Events are not due all at the same time, so that a pass that takes some of them can go on behind them. */
const RECHECK_NEXT = `
  WITH behind AS MATERIALIZED (
    SELECT name, rechecked_to FROM event_subscription
    WHERE rechecked_to = (SELECT min(rechecked_to) FROM event_subscription)
  ), next AS MATERIALIZED (
    SELECT ctid, name, occurred_at, published_at IS NOT NULL AND check_at IS NULL AS is_confirmed FROM outbox
    WHERE occurred_at > (SELECT min(rechecked_to) FROM behind)
    ORDER BY occurred_at FETCH FIRST ${RECHECKED_MAX} ROWS WITH TIES
  ), reopened AS (
    UPDATE outbox SET check_at = now() + make_interval(secs => $1::integer)
      + sequence % 1000000 * interval '1 microsecond'
    WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM next WHERE is_confirmed AND name IN (SELECT name FROM behind)))
  )
  UPDATE event_subscription SET rechecked_to = (
    SELECT CASE WHEN count(*) >= ${RECHECKED_MAX} THEN max(occurred_at) END FROM next)
  WHERE rechecked_to = (SELECT min(rechecked_to) FROM behind)
  RETURNING name`;

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
