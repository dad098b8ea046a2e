import { collectSent, rawStatements } from '@plinth/runtime/postgres/raw-statements';
import {
  inTransaction,
  type Planning,
  type RawStatements,
  type TenantDatabase,
} from '@plinth/runtime/postgres/postgres';
import type { FairPool, Scope } from '@plinth/runtime/postgres/fair-pool';

/** A service's database without Prisma, entered as services enter theirs. */
export function plainDatabase(pool: FairPool): TenantDatabase<RawStatements> {
  const within = <Result>(scope: Scope, work: (tx: RawStatements) => Promise<Result>, planning?: Planning) =>
    inTransaction(
      pool,
      scope,
      (connection, sent) => {
        const tx = rawStatements(connection);
        collectSent(tx, sent);
        return work(tx);
      },
      { planning },
    );
  return {
    inTenant: (tenantId, work, planning) => within(['plinth.tenant_id', tenantId], work, planning),
    inPlatform: (work) => within(['plinth.scope', 'platform'], work),
  };
}
