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
   * its new error. @param eventId of the only one that is processed
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
  const text = String(error instanceof Error ? (error.stack ?? error.message) : error);
  await tx.$executeRawUnsafe(
    `INSERT INTO dead_letter (tenant_id, consumer, event_id, name, envelope, error, deliveries)
     VALUES ($1::uuid, $2, $3::uuid, $4, $5::jsonb, $6, $7)
     ON CONFLICT (tenant_id, consumer, event_id)
     DO UPDATE SET error = excluded.error, deliveries = excluded.deliveries, died_at = now()`,
    event.tenantId,
    consumer,
    event.id,
    event.name,
    JSON.stringify(event),
    text.slice(0, ERROR_CHARACTERS_MAX),
    deliveries,
  );
}

/** Which of these events of a tenant are dead letters of a consumer, by their ids in lower case. */
export async function findDeadLetters(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.$queryRawUnsafe<{ id: string }[]>(
    `SELECT event_id::text AS id FROM dead_letter
     WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = ANY($3::uuid[])`,
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
