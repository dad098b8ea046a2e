/**
 * Facts leave a service through its outbox.
 *
 * A change and the fact that tells of it are written in one transaction, so neither exists without the other. A relay
 * in each process then publishes what is not published yet, oldest first. It is woken after every commit of its own
 * process and looks by itself now and then, so a fact is late at worst, never lost. Two relays never take the same
 * row (`FOR UPDATE SKIP LOCKED`); a crash between publication and its note publishes again with the same message id,
 * and consumers keep an inbox.
 */
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import type { Close } from './lifecycle';
import type { Log } from './log';
import { ensureStream, subjectOf, type Messaging } from './nats';
import type { RawStatements, TenantDatabase } from './postgres';

const POLL_MILLISECONDS = 1_000;
const BATCH_SIZE = 200;

export interface NewEvent<E extends EventType> {
  type: E;
  tenantId: string;
  /** What it happened to, such as an entity or a name. */
  subject: string;
  payload: PayloadOf<E>;
  actor?: { userId: string; userName: string } | undefined;
}

/** Writes a fact into the outbox of the running transaction; the relay tells it after the commit. */
export async function appendToOutbox<E extends EventType>(
  tx: RawStatements,
  event: NewEvent<E>,
): Promise<void> {
  await tx.$executeRawUnsafe(
    `INSERT INTO outbox (tenant_id, id, name, subject, payload, actor_id, actor_name)
     VALUES ($1::uuid, $2::uuid, $3, $4, $5::jsonb, $6, $7)`,
    event.tenantId,
    newId(),
    event.type.name,
    event.subject,
    JSON.stringify(event.payload),
    event.actor?.userId ?? null,
    event.actor?.userName ?? null,
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
  occurred_at: Date;
}

export interface OutboxRelay {
  /** Something was committed; publish it now. */
  wake(): void;
  close: Close;
}

/** Starts publishing the facts of one service's outbox. */
export function startOutboxRelay(
  db: TenantDatabase<RawStatements>,
  messaging: Messaging,
  log: Log,
): OutboxRelay {
  let running: Promise<void> | undefined;
  let wokenMeanwhile = false;
  let closed = false;

  const run = async (): Promise<void> => {
    do {
      wokenMeanwhile = false;
      while (!closed && (await publishBatch(db, messaging)) === BATCH_SIZE);
    } while (wokenMeanwhile && !closed);
  };
  const wake = (): void => {
    if (closed) return;
    wokenMeanwhile = true;
    running ??= run()
      .catch((error: unknown) => log.warn({ err: error }, 'the outbox could not be published; it will be'))
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(wake, POLL_MILLISECONDS);
  timer.unref();
  wake();

  return {
    wake,
    close: async () => {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}

async function publishBatch(db: TenantDatabase<RawStatements>, messaging: Messaging): Promise<number> {
  return db.inPlatform(async (tx) => {
    const rows = await tx.$queryRawUnsafe<OutboxRow[]>(
      `SELECT tenant_id, id, sequence, name, subject, payload, actor_id, actor_name, occurred_at FROM outbox
       WHERE published_at IS NULL ORDER BY sequence LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED`,
    );
    if (rows.length === 0) return 0;
    await ensureStreamOnFailure(messaging, () =>
      Promise.all(
        rows.map((row) =>
          messaging.jetstream.publish(
            subjectOf(messaging.prefix, row.name),
            JSON.stringify(toEnvelope(row)),
            {
              msgID: row.id,
            },
          ),
        ),
      ),
    );
    await tx.$executeRawUnsafe(
      'UPDATE outbox SET published_at = now() WHERE published_at IS NULL AND id = ANY($1::uuid[])',
      rows.map(({ id }) => id),
    );
    return rows.length;
  });
}

/** Somebody may have deleted the stream; it is made again and the publication repeated once. */
async function ensureStreamOnFailure(messaging: Messaging, publish: () => Promise<unknown>): Promise<void> {
  try {
    await publish();
  } catch {
    await ensureStream(messaging);
    await publish();
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
  payload: row.payload,
});
