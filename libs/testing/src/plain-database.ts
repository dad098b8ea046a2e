import { rawStatements } from '@plinth/runtime/postgres/raw-statements';
import { inTransaction, type RawStatements, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { Pool } from 'pg';

/** A service's database without Prisma, entered as services enter theirs. */
export const plainDatabase = (pool: Pool): TenantDatabase<RawStatements> => ({
  inTenant: (tenantId, work) =>
    inTransaction(pool, ['plinth.tenant_id', tenantId], (connection) => work(rawStatements(connection))),
  inPlatform: (work) =>
    inTransaction(pool, ['plinth.scope', 'platform'], (connection) => work(rawStatements(connection))),
});
