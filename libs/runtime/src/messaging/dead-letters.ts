import type { EventEnvelope } from '@plinth/kernel/event';
import type { RawStatements } from '../postgres/postgres';

const ERROR_CHARACTERS_MAX = 4_000;

/** Stores an event that could not be processed, with its error, until it is replayed (`npm run events -- dead`). */
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
