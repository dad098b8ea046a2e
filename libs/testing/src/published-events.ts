import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { inTenantConnection } from '@plinth/runtime/postgres/postgres';

export interface PublishedEvent {
  name: string;
  subject: string;
  payload: unknown;
}

/** What a service published for a tenant, in its order. */
export const eventsOf = (
  { pool }: { pool: FairPool | undefined },
  tenantId: string,
): Promise<PublishedEvent[]> =>
  inTenantConnection(pool!, tenantId, async (connection) => {
    const { rows } = await connection.query<PublishedEvent>(
      'SELECT name, subject, payload FROM outbox WHERE tenant_id = $1 ORDER BY sequence',
      [tenantId],
    );
    return rows;
  });
