import type { EventEnvelope } from '@plinth/kernel/event';
import type { RawStatements } from '../postgres/postgres';

const ERROR_CHARACTERS_MAX = 4_000;

/** An event that could not be processed, as its service stored it. */
export interface DeadLetter {
  event: EventEnvelope;
  /** Of the last attempt, with its stack. */
  error: string;
  /** How often it was tried. */
  deliveries: number;
  diedAt: Date;
}

/** The dead letters of one consumer, of all tenants. */
export interface DeadLetters {
  /** The oldest ones. */
  list(limit: number): Promise<DeadLetter[]>;
  /**
   * Processes the oldest ones again, or one of them, each in a transaction of its own. What fails again stays, with
   * its new error, and so does what this release does not subscribe to. @param eventId of the only one that is processed
   */
  replay(limit: number, eventId?: string): Promise<{ processed: number; failed: number }>;
}

/** Reads the oldest dead letters of a consumer, in a transaction of the platform. */
export async function readDeadLetters(
  tx: RawStatements,
  consumer: string,
  limit: number,
  eventId: string | null = null,
): Promise<DeadLetter[]> {
  return tx.$queryRawUnsafe<DeadLetter[]>(
    `SELECT envelope AS event, error, deliveries, died_at AS "diedAt" FROM dead_letter
     WHERE consumer = $1 AND ($2::uuid IS NULL OR event_id = $2::uuid) ORDER BY died_at, event_id LIMIT $3::integer`,
    consumer,
    eventId,
    limit,
  );
}

/** Stores an event that could not be processed, with its error, until it is replayed. */
export async function storeDeadLetter(
  tx: RawStatements,
  consumer: string,
  event: EventEnvelope,
  error: unknown,
  deliveries: number,
): Promise<void> {
  await tx.$executeRawUnsafe(
    `INSERT INTO dead_letter (tenant_id, consumer, event_id, name, envelope, error, deliveries)
     VALUES ($1::uuid, $2, $3::uuid, $4, $5::jsonb, $6, $7)
     ON CONFLICT (tenant_id, consumer, event_id) DO UPDATE SET
       error = excluded.error, deliveries = excluded.deliveries, died_at = now(), is_interrupted = false`,
    event.tenantId,
    consumer,
    event.id,
    event.name,
    JSON.stringify(event),
    textOf(error),
    deliveries,
  );
}

/** Stores the new error of a dead letter; returns whether it still is one, and its event was not processed meanwhile. */
export async function storeAgain(
  ...[tx, consumer, event, ...failure]: Parameters<typeof storeDeadLetter>
): Promise<boolean> {
  const isDead = await lockDeadLetter(tx, consumer, event.tenantId, event.id);
  if (isDead) await storeDeadLetter(tx, consumer, event, ...failure);
  return isDead;
}

/** Has a dead letter that could not even be tried come behind the others: why comes before the error of its last attempt. */
export async function postponeDeadLetter(
  tx: RawStatements,
  consumer: string,
  { tenantId, id }: EventEnvelope,
  reason: string,
): Promise<void> {
  await tx.$executeRawUnsafe(
    `UPDATE dead_letter SET died_at = now(),
       error = CASE WHEN starts_with(error, $4) THEN error ELSE left($4 || E'\n' || error, $5::integer) END
     WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = $3::uuid`,
    tenantId,
    consumer,
    id,
    reason,
    ERROR_CHARACTERS_MAX,
  );
}

const textOf = (error: unknown): string =>
  String(error instanceof Error ? (error.stack ?? error.message) : error).slice(0, ERROR_CHARACTERS_MAX);

/**
 * Which of these events of a tenant are dead letters of a consumer, by their ids in lower case; without those whose trial was
 * interrupted.
 */
export async function findDeadLetters(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.$queryRawUnsafe<{ id: string }[]>(
    `SELECT event_id::text AS id FROM dead_letter
     WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = ANY($3::uuid[]) AND NOT is_interrupted`,
    tenantId,
    consumer,
    eventIds,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Removes a dead letter in the transaction that processes its event after all. */
export async function removeDeadLetter(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  eventId: string,
): Promise<void> {
  await tx.$executeRawUnsafe(
    'DELETE FROM dead_letter WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = $3::uuid',
    tenantId,
    consumer,
    eventId,
  );
}

/**
 * Locks a dead letter until the end of the transaction; false where there is none. Who removes an event because it is dead,
 * and who removes a dead letter because its event is there, look for the other one under this lock, so that not both do.
 */
export async function lockDeadLetter(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  eventId: string,
): Promise<boolean> {
  const found = await tx.$queryRawUnsafe<unknown[]>(
    'SELECT FROM dead_letter WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = $3::uuid FOR UPDATE',
    tenantId,
    consumer,
    eventId,
  );
  return found.length > 0;
}

/**
 * Removes a dead letter whose event is certainly not lost without it: it is stored until the turn of its tenant, or was
 * processed. What JetStream delivers may be terminated by another process at the same time.
 */
export async function removeNeedlessDeadLetter(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  eventId: string,
): Promise<void> {
  if (!(await lockDeadLetter(tx, consumer, tenantId, eventId))) return;
  const isThere = (table: string): string => `EXISTS (SELECT FROM ${table}
    WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = $3::uuid)`;
  await tx.$executeRawUnsafe(
    `DELETE FROM dead_letter WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = $3::uuid
       AND (${isThere('waiting_event')} OR ${isThere('inbox')})`,
    tenantId,
    consumer,
    eventId,
  );
}

/**
 * Ends the trial of an event as a dead letter that failed without ending its process. Where the event would be lost without
 * the dead letter, that stays with the error, but whoever gets the event next tries it again.
 */
export async function interruptDeadLetter(
  tx: RawStatements,
  consumer: string,
  { tenantId, id }: EventEnvelope,
  error: unknown,
): Promise<void> {
  await removeNeedlessDeadLetter(tx, consumer, tenantId, id);
  await tx.$executeRawUnsafe(
    `UPDATE dead_letter SET is_interrupted = true, error = $4
     WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = $3::uuid`,
    tenantId,
    consumer,
    id,
    textOf(error),
  );
}
