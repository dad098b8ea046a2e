import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Bundle } from '../domain/texts';
import { publishOverridesChanged } from '../events/published';

/**
 * Marks that overrides of a tenant changed and publishes it, in the transaction of the change. Every change ends here,
 * be it by a request, an import or the undoing of one, so that no replica misses one.
 */
export async function recordOverridesChanged(
  tx: RawStatements,
  caller: Pick<Caller, 'tenantId' | 'userId' | 'userName'>,
  changed: readonly Bundle[],
): Promise<void> {
  await tx.$executeRawUnsafe(PUT_MARK, caller.tenantId, newId());
  await publishOverridesChanged(tx, caller, changed);
}

/** Writers of one tenant never wait for each other here: a mark that another writer is removing is left to it. */
const PUT_MARK = `
  WITH others AS (
    SELECT tenant_id, id FROM override_mark WHERE tenant_id = $1::uuid FOR UPDATE SKIP LOCKED
  ), taken AS (
    DELETE FROM override_mark mark USING others WHERE mark.tenant_id = others.tenant_id AND mark.id = others.id
  )
  INSERT INTO override_mark (tenant_id, id) VALUES ($1::uuid, $2::uuid)`;
