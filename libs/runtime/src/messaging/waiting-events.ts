import type { EventEnvelope } from '@plinth/kernel/event';
import type { RawStatements } from '../postgres/postgres';

/** An event that waits for the turn of its tenant, and how often it was tried, this time included. */
export interface WaitingEvent {
  event: EventEnvelope;
  attempts: number;
}

/** Stores events of a tenant until its turn, in this order, except those that were processed. */
export async function storeWaiting(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  events: readonly EventEnvelope[],
): Promise<void> {
  await tx.$executeRawUnsafe(
    `INSERT INTO waiting_event (tenant_id, consumer, event_id, envelope)
     SELECT $1::uuid, $2, (envelope ->> 'id')::uuid, envelope
     FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS event (envelope, place)
     WHERE NOT EXISTS (SELECT FROM inbox WHERE tenant_id = $1::uuid AND consumer = $2
       AND event_id = (envelope ->> 'id')::uuid)
     ORDER BY place ON CONFLICT DO NOTHING`,
    tenantId,
    consumer,
    JSON.stringify(events),
  );
}

/** Holds in a statement while events of its tenant (`$1`) wait at its consumer (`$2`). */
export const HAS_WAITING = 'EXISTS (SELECT FROM waiting_event WHERE tenant_id = $1::uuid AND consumer = $2)';

/**
 * The tenant whose events are due and that comes next after this one, in a transaction of the platform; none of those
 * that are left out.
 */
export async function nextWaitingTenant(
  tx: RawStatements,
  consumer: string,
  afterTenantId: string | undefined,
  leftOut: readonly string[],
): Promise<string | undefined> {
  const find = async (after: string): Promise<string | undefined> => {
    const [first] = await tx.$queryRawUnsafe<{ tenantId: string }[]>(
      `SELECT tenant_id::text AS "tenantId" FROM waiting_event
       WHERE consumer = $1 AND tenant_id > $2::uuid AND due_at <= now() AND tenant_id <> ALL($3::uuid[])
       ORDER BY tenant_id, due_at, position LIMIT 1`,
      consumer,
      after,
      leftOut,
    );
    return first?.tenantId;
  };
  return (afterTenantId && (await find(afterTenantId))) || find(NO_TENANT);
}

/** Comes before the id of every tenant. */
const NO_TENANT = '00000000-0000-0000-0000-000000000000';

/**
 * The oldest due events of a tenant, before those that failed; each is counted as tried before it is, since it may end this process. Undefined where
 * another process has the turn of this tenant.
 */
export async function takeWaiting(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  limit: number,
): Promise<WaitingEvent[] | undefined> {
  const [turn] = await tx.$queryRawUnsafe<{ taken: boolean }[]>(
    `SELECT pg_try_advisory_xact_lock(${TURN}) AS taken`,
    tenantId,
    consumer,
  );
  if (!turn!.taken) return undefined;
  return tx.$queryRawUnsafe<WaitingEvent[]>(
    `WITH taken AS (
       UPDATE waiting_event SET attempts = attempts + 1
       WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = ANY (ARRAY (
         SELECT event_id FROM waiting_event WHERE tenant_id = $1::uuid AND consumer = $2 AND due_at <= now()
         ORDER BY due_at, position LIMIT ${limit}))
       RETURNING envelope, attempts, position)
     SELECT envelope AS event, attempts FROM taken ORDER BY position`,
    tenantId,
    consumer,
  );
}

/**
 * Removes events in the transaction that processes them, and keeps the turn of their tenant until its end, so that its
 * events are processed in their order.
 */
export async function removeWaiting(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  eventIds: readonly string[],
): Promise<void> {
  await tx.$queryRawUnsafe(`SELECT pg_advisory_xact_lock(${TURN})::text`, tenantId, consumer);
  await tx.$executeRawUnsafe(
    'DELETE FROM waiting_event WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = ANY($3::uuid[])',
    tenantId,
    consumer,
    eventIds,
  );
}

/** Has an event tried again later. */
export async function postponeWaiting(
  tx: RawStatements,
  consumer: string,
  { tenantId, id }: EventEnvelope,
  milliseconds: number,
): Promise<void> {
  await tx.$executeRawUnsafe(
    `UPDATE waiting_event SET due_at = now() + make_interval(secs => $4::float8 / 1000)
     WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = $3::uuid`,
    tenantId,
    consumer,
    id,
    milliseconds,
  );
}

const TURN = `hashtext('turn of waiting events ' || $2), hashtext($1)`;
