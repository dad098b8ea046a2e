import { definitionChanged } from '@plinth/contracts/workflow/events';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { Prisma } from '../generated/client';

/** Which entities of a type are counted: those that a definition of this tenant governs. */
export interface Governed {
  tenantId: string;
  entityType: string;
  /** Without states, entities are counted in each that any is in. */
  states: readonly string[] | null;
}

/**
 * How many entities are in each of some states, or wait for an approval to enter it. It reads all entities of the tenant, or
 * of all tenants, so that only who has a place for that may count.
 */
export const countStatesInUse = (
  tx: Prisma.TransactionClient,
  governed: Governed,
): Promise<Map<string, number>> => {
  const { tenantId, entityType } = governed;
  const isOfTenant = ofTenant(tenantId);
  return count(
    tx,
    governed,
    Prisma.sql`
      SELECT tenant_id, state FROM entity WHERE entity_type = ${entityType} AND ${isOfTenant}
      UNION ALL
      SELECT tenant_id, unnest(ARRAY[former_state, target_state]) FROM approval
      WHERE "end" IS NULL AND entity_type = ${entityType} AND ${isOfTenant}`,
  );
};

/**
 * The same of entities of which anything was published since a time: those that may be in another state than then. What
 * changes the state of an entity, or asks for an approval, publishes it in the same transaction.
 */
export const countStatesEnteredSince = async (
  tx: Prisma.TransactionClient,
  governed: Governed,
  since: Date,
): Promise<Map<string, number>> => {
  const { tenantId, entityType, states } = governed;
  if (states?.length === 0) return new Map();
  await readByIndexes(tx, 'for-values');
  return count(
    tx,
    governed,
    Prisma.sql`
      SELECT entity.tenant_id, entity.state FROM changed
      JOIN entity USING (tenant_id, entity_id) WHERE entity.entity_type = ${entityType}
      UNION ALL
      SELECT approval.tenant_id, unnest(ARRAY[approval.former_state, approval.target_state]) FROM changed
      JOIN approval USING (tenant_id, entity_id) WHERE approval."end" IS NULL AND approval.entity_type = ${entityType}`,
    Prisma.sql`
      changed AS MATERIALIZED (
        SELECT DISTINCT tenant_id, payload ->> 'entityId' AS entity_id FROM outbox
        WHERE occurred_at >= ${since} AND payload ->> 'entityType' = ${entityType} AND ${ofTenant(tenantId)}
      ),`,
  );
};

/** A transaction that has been open for longer makes what was published since more than what is to be counted. */
const OPEN_MILLISECONDS_MAX = 600_000;

/**
 * A time so that whatever is committed from now on was published after it: the beginning of the oldest transaction that is
 * open, and a minute before, since Postgres does not show those of other roles. It comes before entities are counted.
 */
export async function beginningOfOpenTransactions(tx: Prisma.TransactionClient): Promise<Date> {
  const [row] = await tx.$queryRaw<[{ since: Date }]>`
    SELECT min(xact_start) - interval '1 minute' AS since FROM pg_stat_activity WHERE datname = current_database()`;
  return row.since;
}

/**
 * Whether entities that were counted after this time need not be counted again, but those of which anything was published
 * since. Another definition may govern others, and where a transaction lasts very long, very much is published.
 */
export async function isCountedSince(
  tx: Prisma.TransactionClient,
  tenantId: string,
  entityType: string,
  since: Date,
): Promise<boolean> {
  const [row] = await inScope(
    tx,
    tenantId,
    () => tx.$queryRaw<[{ isCounted: boolean }]>`
      SELECT ${since} > clock_timestamp() - ${OPEN_MILLISECONDS_MAX} * interval '1 millisecond'
        AND NOT EXISTS (
          SELECT FROM outbox WHERE occurred_at >= ${since} AND name = ${definitionChanged.name} AND subject = ${entityType}
        ) AS "isCounted"`,
  );
  return row.isCounted;
}

async function count(
  tx: Prisma.TransactionClient,
  { tenantId, entityType, states }: Governed,
  entities: Prisma.Sql,
  before = Prisma.empty,
): Promise<Map<string, number>> {
  if (states?.length === 0) return new Map();
  const rows = await inScope(
    tx,
    tenantId,
    // The platform's default governs every tenant without a definition of its own.
    () => tx.$queryRaw<{ state: string; entities: number }[]>`
      WITH ${before} apart AS (
        SELECT DISTINCT ON (tenant_id) tenant_id, body FROM definition
        WHERE ${tenantId === HOST_TENANT_ID} AND entity_type = ${entityType} AND tenant_id <> ${HOST_TENANT_ID}::uuid
        ORDER BY tenant_id, version DESC
      ), governed AS (${entities})
      SELECT state, count(*)::int AS entities FROM governed
      WHERE tenant_id NOT IN (SELECT tenant_id FROM apart WHERE body IS NOT NULL)
        AND (${states}::text[] IS NULL OR state = ANY (${states}::text[]))
      GROUP BY state`,
  );
  return new Map(rows.map((row) => [row.state, row.entities]));
}

const ofTenant = (tenantId: string): Prisma.Sql =>
  Prisma.sql`(${tenantId === HOST_TENANT_ID} OR tenant_id = ${tenantId}::uuid)`;

/** Reads what a definition of this tenant governs: the platform's, all tenants. */
async function inScope<Result>(
  tx: Prisma.TransactionClient,
  tenantId: string,
  read: () => Promise<Result>,
): Promise<Result> {
  if (tenantId !== HOST_TENANT_ID) return read();
  await tx.$executeRaw`SELECT set_config('plinth.scope', 'platform', true)`;
  const result = await read();
  await tx.$executeRaw`SELECT set_config('plinth.scope', '', true)`;
  return result;
}
