/**
 * Facts leave a service through its outbox.
 *
 * A change and the fact that tells of it are written in one transaction, so neither exists without the other. A relay
 * in each process then publishes what is not published yet, oldest first. It is woken after commits of its own
 * process and looks by itself now and then, so a fact is late at worst, never lost. Two relays never take the same
 * row (`FOR UPDATE SKIP LOCKED`); a crash between publication and its note publishes again with the same message id,
 * and consumers keep an inbox.
 *
 * NATS may lose what it acknowledged, and somebody may delete the stream. So a published fact is checked a little
 * later: the sweeper asks every consumer whether its inbox has it, and publishes again what somebody misses. Postgres
 * is the truth, NATS the messenger. A fact is kept as long as the stream would keep it.
 */
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import type { Close } from './lifecycle';
import type { Log } from './log';
import { ensureStream, recheckSubject, RETENTION_DAYS, subjectOf, type Messaging } from './nats';
import type { RawStatements, TenantDatabase } from './postgres';
import { findMissing } from './sweeper';
import { currentTraceparent } from './tracing';

const BATCH_SIZE = 200;
const SWEEP_SIZE = 1_000;
/** How many times longer a consumer is waited for that is away or far behind than one that could answer. */
const PATIENCE = 10;

export interface RelayTiming {
  /** How often a relay looks without being woken. */
  pollMilliseconds: number;
  /** How often the sweeper looks for facts to check. */
  sweepMilliseconds: number;
  /** How long consumers have to apply a fact before they are asked for it. */
  confirmSeconds: number;
}

const usualTiming: RelayTiming = { pollMilliseconds: 1_000, sweepMilliseconds: 10_000, confirmSeconds: 30 };

export interface NewEvent<E extends EventType> {
  type: E;
  tenantId: string;
  /** What it happened to, such as an entity or a name. */
  subject: string;
  payload: PayloadOf<E>;
  actor?: { userId: string; userName: string } | undefined;
}

/**
 * Writes facts into the outbox of the running transaction; the relay tells them after the commit, in their order.
 * @throws ZodError when a payload is not what the catalogue of events says: a bug of whoever tells it.
 */
export async function appendToOutbox<E extends EventType>(
  tx: RawStatements,
  ...events: readonly NewEvent<E>[]
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ type, tenantId, subject, payload, actor }) => ({
    tenant_id: tenantId,
    id: newId(),
    name: type.name,
    subject,
    payload: type.payload.parse(payload),
    actor_id: actor?.userId,
    actor_name: actor?.userName,
    traceparent: currentTraceparent(),
  }));
  await tx.$executeRawUnsafe(
    `INSERT INTO outbox (tenant_id, id, name, subject, payload, actor_id, actor_name, traceparent)
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS event (tenant_id uuid, id uuid, name text, subject text,
       payload jsonb, actor_id text, actor_name text, traceparent text)`,
    JSON.stringify(rows),
  );
}

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

/** Rows by their key, as the first two arguments of a statement. */
const NAMED = 'unnest($1::uuid[], $2::uuid[]) AS named (tenant_id, id)';
const namesOf = (rows: readonly OutboxRow[]) => [
  rows.map(({ tenant_id }) => tenant_id),
  rows.map(({ id }) => id),
];

export interface OutboxRelay {
  /** Something was committed; publish it now. */
  wake(): void;
  close: Close;
}

/** Starts publishing the facts of one service's outbox, and checking that they arrived. */
export function startOutboxRelay(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  log: Log,
  timing: Partial<RelayTiming> = {},
): OutboxRelay {
  const { pollMilliseconds, sweepMilliseconds, confirmSeconds } = { ...usualTiming, ...timing };
  const relay = repeatedly(
    pollMilliseconds,
    async () => (await publishBatch(db, messaging, confirmSeconds)) === BATCH_SIZE,
    (error) => log.warn({ err: error }, 'the outbox could not be published; it will be'),
  );
  const sweeper = repeatedly(
    sweepMilliseconds,
    async () => (await sweep(db, messaging, confirmSeconds, log)) === SWEEP_SIZE,
    (error) => log.warn({ err: error }, 'it could not be checked whether facts arrived; it will be'),
  );
  const rechecks = messaging.connection.subscribe(recheckSubject(messaging.prefix), {
    callback: (_error, message) => {
      recheck(db, message.json<string[]>(), confirmSeconds).catch((error: unknown) =>
        log.warn({ err: error }, 'facts could not be put up for a new check'),
      );
    },
  });
  relay.wake();
  return {
    wake: relay.wake,
    close: async () => {
      rechecks.unsubscribe();
      await Promise.all([relay.close(), sweeper.close()]);
    },
  };
}

/**
 * Runs `work` at an interval and whenever woken, never twice at once, and at once again while it answers that there
 * is more to do.
 */
function repeatedly(milliseconds: number, work: () => Promise<boolean>, onError: (error: unknown) => void) {
  let running: Promise<void> | undefined;
  let wokenMeanwhile = false;
  let closed = false;

  const run = async (): Promise<void> => {
    do {
      wokenMeanwhile = false;
      while (!closed && (await work()));
    } while (wokenMeanwhile && !closed);
  };
  const wake = (): void => {
    if (closed) return;
    wokenMeanwhile = true;
    running ??= run()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(wake, milliseconds);
  timer.unref();
  return {
    wake,
    close: async () => {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}

async function publishBatch(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  confirmSeconds: number,
): Promise<number> {
  return db.inPlatform(async (tx) => {
    const rows = await tx.$queryRawUnsafe<OutboxRow[]>(
      `SELECT ${COLUMNS} FROM outbox
       WHERE published_at IS NULL ORDER BY sequence LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED`,
    );
    if (rows.length === 0) return 0;
    // A server that is away is found out before a batch of publications waits for it.
    await messaging.check();
    await publish(messaging, rows, ({ id }) => id);
    await tx.$executeRawUnsafe(
      `UPDATE outbox SET published_at = now(), check_at = now() + make_interval(secs => $3::integer)
       FROM ${NAMED} WHERE outbox.tenant_id = named.tenant_id AND outbox.id = named.id`,
      ...namesOf(rows),
      confirmSeconds,
    );
    return rows.length;
  });
}

/** Asks whether published facts arrived, and publishes again those that somebody misses. */
async function sweep(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  confirmSeconds: number,
  log: Log,
): Promise<number> {
  return db.inPlatform(async (tx) => {
    await tx.$executeRawUnsafe(
      `DELETE FROM outbox WHERE (tenant_id, id) IN (
         SELECT tenant_id, id FROM outbox WHERE occurred_at < now() - interval '${RETENTION_DAYS} days'
           AND published_at IS NOT NULL LIMIT ${SWEEP_SIZE})`,
    );
    const rows = await tx.$queryRawUnsafe<OutboxRow[]>(
      `SELECT ${COLUMNS} FROM outbox
       WHERE check_at <= now() ORDER BY check_at, sequence LIMIT ${SWEEP_SIZE} FOR UPDATE SKIP LOCKED`,
    );
    if (rows.length === 0) return 0;
    await messaging.check();
    const { missing, unknown } = await findMissing(messaging, rows);
    const lost = rows.filter(({ id }) => missing.has(id));
    if (lost.length > 0) log.warn({ count: lost.length }, 'facts did not arrive; publishing them again');
    // With the first message id JetStream would drop them as duplicates.
    await publish(messaging, lost, ({ id }) => `${id}.${newId()}`);
    await tx.$executeRawUnsafe(
      `UPDATE outbox SET check_at = CASE
         WHEN outbox.id = ANY($3::uuid[]) THEN now() + make_interval(secs => $5::integer)
         WHEN outbox.id = ANY($4::uuid[]) THEN now() + make_interval(secs => $5::integer * ${PATIENCE}) END
       FROM ${NAMED} WHERE outbox.tenant_id = named.tenant_id AND outbox.id = named.id`,
      ...namesOf(rows),
      [...missing],
      [...unknown],
      confirmSeconds,
    );
    // Where nobody could answer, the next ones would learn no more just now.
    return unknown.size === rows.length ? 0 : rows.length;
  });
}

/** Puts facts of these names up for a new check, since a consumer came that may never have had them. */
async function recheck(
  db: TenantDatabase<RawStatements>,
  names: string[],
  confirmSeconds: number,
): Promise<void> {
  await db.inPlatform((tx) =>
    tx.$executeRawUnsafe(
      `UPDATE outbox SET check_at = now() + make_interval(secs => $2::integer)
       WHERE name = ANY($1::text[]) AND published_at IS NOT NULL AND check_at IS NULL`,
      names,
      confirmSeconds,
    ),
  );
}

/** Publishes all rows. Somebody may have deleted the stream; then it is made again and the publication repeated once. */
async function publish(
  messaging: Messaging,
  rows: readonly OutboxRow[],
  messageIdOf: (row: OutboxRow) => string,
): Promise<void> {
  const publishAll = () =>
    Promise.all(
      rows.map((row) =>
        messaging.jetstream.publish(subjectOf(messaging.prefix, row.name), JSON.stringify(toEnvelope(row)), {
          msgID: messageIdOf(row),
        }),
      ),
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
