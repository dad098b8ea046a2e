import type { EventEnvelope } from '@plinth/kernel/event';
import { TRANSACTION_IS_NUMBERED } from '../postgres/numbered-transaction';
import type { RawStatements } from '../postgres/postgres';

/** An event that waits for the turn of its tenant, and how often it was tried. */
export interface WaitingEvent {
  event: EventEnvelope;
  attempts: number;
}

/**
 * Stores events of a tenant until its turn, in this order, except those that were processed. Each is looked for by its key
 * (ADR 0022): a join would read everything that the tenant ever had processed.
 */
export async function storeWaiting(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  events: readonly WaitingEvent[],
): Promise<void> {
  await tx.$executeRawUnsafe(
    `INSERT INTO waiting_event (tenant_id, consumer, event_id, name, envelope, attempts)
     SELECT $1::uuid, $2, waiting.id, event ->> 'name', event, attempts
     FROM ROWS FROM (jsonb_to_recordset($3::jsonb) AS (id uuid, event jsonb, attempts integer))
       WITH ORDINALITY AS waiting (id, event, attempts, place)
     WHERE (SELECT true FROM inbox WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = waiting.id
       ORDER BY tenant_id, consumer, event_id LIMIT 1) IS NULL
       AND ${TRANSACTION_IS_NUMBERED}
     ORDER BY place ON CONFLICT DO NOTHING`,
    tenantId,
    consumer,
    JSON.stringify(events.map(({ event, attempts }) => ({ id: event.id, event, attempts }))),
  );
}

/** Holds in a statement while no events of its tenant (`$1`) wait at its consumer (`$2`); reads one row by its key. */
export const NONE_WAITS = `(SELECT true FROM waiting_event WHERE tenant_id = $1::uuid AND consumer = $2
  ORDER BY tenant_id, consumer, event_id LIMIT 1) IS NULL`;

/** A tenant of which events wait, and in how many milliseconds the first of them is due; 0 where it is. */
export interface WaitingTenant {
  tenantId: string;
  dueInMilliseconds: number;
}

/** The tenants of which events of these names wait, in a transaction of the platform: one step in the index for each. */
export async function findWaitingTenants(
  tx: RawStatements,
  consumer: string,
  names: readonly string[],
): Promise<WaitingTenant[]> {
  return tx.$queryRawUnsafe<WaitingTenant[]>(
    `WITH RECURSIVE found (name, tenant_id, due_at) AS (
       SELECT subscribed.name, first.* FROM unnest($2::text[]) AS subscribed (name) CROSS JOIN LATERAL (
         SELECT tenant_id, due_at FROM waiting_event
         WHERE consumer = $1 AND name = subscribed.name AND position > 0
         ORDER BY tenant_id, due_at, position LIMIT 1) AS first
       UNION ALL
       SELECT found.name, next.* FROM found CROSS JOIN LATERAL (
         SELECT tenant_id, due_at FROM waiting_event
         WHERE consumer = $1 AND name = found.name AND tenant_id > found.tenant_id AND position > 0
         ORDER BY tenant_id, due_at, position LIMIT 1) AS next)
     SELECT tenant_id::text AS "tenantId", CASE WHEN min(due_at) <= now() THEN 0
       ELSE ceil(extract(epoch FROM min(due_at) - now()) * 1000) END::integer AS "dueInMilliseconds"
     FROM found GROUP BY tenant_id`,
    consumer,
    names,
  );
}

/** Takes the turn of a tenant until the end of the transaction; false where another process has it. */
export async function takeTurnOf(tx: RawStatements, consumer: string, tenantId: string): Promise<boolean> {
  const [turn] = await tx.$queryRawUnsafe<{ isTaken: boolean }[]>(
    `SELECT pg_try_advisory_xact_lock(hashtext('turn of waiting events ' || $2), hashtext($1)) AS "isTaken"`,
    tenantId,
    consumer,
  );
  return turn!.isTaken;
}

/** Of what failed and is due again, so many are tried first: what arrives all the time does not keep them from it. */
const FAILED_MAX = 2;

/** One that was taken, and of which transactions those had ended that were seen then. */
export interface TakenEvent extends WaitingEvent {
  position: bigint;
  /** It was never tried before, or ended the process that tried it. */
  isUntried: boolean;
  /** All transactions with lower numbers had ended. */
  oldest: string;
  /** No transaction with this number or a higher one had begun. */
  next: string;
}

/**
 * The oldest events of a tenant of these names that are due, in the order in which they were stored. Each is counted as
 * tried before it is, since it may end this process.
 * @param after a position up to which no untried one is left, so that nobody passes what was there again and again
 */
export async function takeWaiting(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  names: readonly string[],
  { limit, after }: { limit: number; after: bigint },
): Promise<TakenEvent[]> {
  const failed = oldest(`due_at > '-infinity' AND due_at <= now()`, FAILED_MAX);
  const untried = oldest(`due_at = '-infinity' AND position > $4::bigint`, limit - FAILED_MAX);
  return tx.$queryRawUnsafe<TakenEvent[]>(
    `WITH taken AS (
       UPDATE waiting_event SET attempts = attempts + 1
       WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = ANY (ARRAY (${failed}) || ARRAY (${untried}))
       RETURNING envelope, attempts, position, due_at)
     SELECT envelope AS event, attempts, position, due_at = '-infinity' AS "isUntried",
       pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, pg_snapshot_xmax(pg_current_snapshot())::text AS next
     FROM taken ORDER BY position`,
    tenantId,
    consumer,
    names,
    after,
  );
}

/** Steps in the index of each name, so that rows of names that nobody here subscribes to are not read. */
const oldest = (condition: string, limit: number): string =>
  `SELECT event_id FROM unnest($3::text[]) AS subscribed (name) CROSS JOIN LATERAL (
     SELECT event_id, due_at, position FROM waiting_event
     WHERE consumer = $2 AND name = subscribed.name AND tenant_id = $1::uuid AND ${condition}
       AND position > 0
     ORDER BY due_at, position LIMIT ${limit}) AS of_name
   ORDER BY due_at, position LIMIT ${limit}`;

/** Locks an event until the end of the transaction, where it waits. */
export async function lockWaiting(
  tx: RawStatements,
  consumer: string,
  { tenantId, id }: EventEnvelope,
): Promise<void> {
  await tx.$queryRawUnsafe(
    'SELECT FROM waiting_event WHERE tenant_id = $1::uuid AND consumer = $2 AND event_id = $3::uuid FOR UPDATE',
    tenantId,
    consumer,
    id,
  );
}

/** Removes events, as a rule in the transaction that processes them. */
export async function removeWaiting(
  tx: RawStatements,
  consumer: string,
  tenantId: string,
  eventIds: readonly string[],
): Promise<void> {
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

/**
 * Deletes old events of other names, in a transaction of the platform; returns how many. Until then another release may
 * subscribe to them.
 */
export async function deleteUnwanted(
  tx: RawStatements,
  consumer: string,
  names: readonly string[],
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  return tx.$executeRawUnsafe(
    `DELETE FROM waiting_event WHERE ctid = ANY (ARRAY (
       SELECT ctid FROM waiting_event
       WHERE consumer = $1 AND name <> ALL($2::text[]) AND stored_at < now() - make_interval(days => $3::integer)
       LIMIT $4))`,
    consumer,
    names,
    days,
    limit,
  );
}
