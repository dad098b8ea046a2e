import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { Prisma } from '../generated/client';

/** How many entities are in each state, or wait for an approval to enter it, among those that a definition of this tenant governs. */
export async function countStatesInUse(
  tx: Prisma.TransactionClient,
  tenantId: string,
  entityType: string,
): Promise<Map<string, number>> {
  const isPlatform = tenantId === HOST_TENANT_ID;
  // The platform's default governs every tenant without a definition of its own.
  if (isPlatform) await tx.$executeRaw`SELECT set_config('plinth.scope', 'platform', true)`;
  const rows = await tx.$queryRaw<{ state: string; entities: number }[]>`
    WITH apart AS (
      SELECT DISTINCT ON (tenant_id) tenant_id, body FROM definition
      WHERE ${isPlatform} AND entity_type = ${entityType} AND tenant_id <> ${HOST_TENANT_ID}::uuid
      ORDER BY tenant_id, version DESC
    ), governed AS (
      SELECT tenant_id, state FROM entity
      WHERE entity_type = ${entityType} AND (${isPlatform} OR tenant_id = ${tenantId}::uuid)
      UNION ALL
      SELECT tenant_id, unnest(ARRAY[former_state, target_state]) FROM approval
      WHERE "end" IS NULL AND entity_type = ${entityType} AND (${isPlatform} OR tenant_id = ${tenantId}::uuid)
    )
    SELECT state, count(*)::int AS entities FROM governed
    WHERE tenant_id NOT IN (SELECT tenant_id FROM apart WHERE body IS NOT NULL)
    GROUP BY state`;
  if (isPlatform) await tx.$executeRaw`SELECT set_config('plinth.scope', '', true)`;
  return new Map(rows.map(({ state, entities }) => [state, entities]));
}
