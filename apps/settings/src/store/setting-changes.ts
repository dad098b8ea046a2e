import type { SettingChangeKind } from '@plinth/contracts/settings/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { newId, NIL_ID } from '@plinth/kernel/uuid';
import { lockWithinUntilCommit } from '@plinth/runtime/postgres/lock';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { send, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import { keptValue } from '../domain/kept-value';
import type { Level } from '../domain/level';
import { writeSettingsChanged } from '../events/published';

/** By which whoever makes a setting secret waits for all changes of it, and they for that. */
export const keyOfDefinition = (name: string): string => `setting definition/${name}`;

/**
 * Changes of one setting wait for each other until the end of the transaction. Whether it is secret stays as it is read
 * after this.
 */
export async function serializeChanges(
  tx: RawStatements,
  tenantId: string,
  names: readonly string[],
): Promise<void> {
  // In one order, so that two batches never wait for each other.
  for (const name of [...new Set(names)].sort())
    await lockWithinUntilCommit(tx, [keyOfDefinition(name)], `${tenantId}/${name}`);
}

/**
 * The same for one setting at one level. People change their own values side by side; a change for the tenant waits
 * for all of them, and they for it.
 */
export async function serializeChangesAt(
  tx: RawStatements,
  { tenantId, scope, userId }: Level,
  name: string,
): Promise<void> {
  const ofTenant = `${tenantId}/${name}`;
  if (scope !== 'user') return lockWithinUntilCommit(tx, [keyOfDefinition(name)], ofTenant);
  await lockWithinUntilCommit(tx, [keyOfDefinition(name), ofTenant], `${ofTenant}/${userId}`);
}

/** A change as the history shows it: the values of secrets are masked. */
export interface RecordedChange {
  level: Level;
  name: string;
  kind: SettingChangeKind;
  previousValue: string | null;
  newValue: string | null;
}

/**
 * Writes changes into the history and publishes them, in their transaction. Every change of a setting ends here, be it
 * by a request, an import or the undoing of one.
 * @param writes what changes the values, in the same statement
 */
export async function recordChanges(
  tx: RawStatements,
  caller: Caller,
  changes: readonly RecordedChange[],
  writes: readonly Sql[] = [],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ level, name, kind, previousValue, newValue }) => ({
    tenant_id: level.tenantId,
    id: newId(),
    scope: level.scope,
    user_id: level.userId,
    name,
    kind,
    previous_value: keptValue(previousValue),
    new_value: keptValue(newValue),
  }));
  const recorded = sql`
    INSERT INTO setting_change
      (tenant_id, id, scope, user_id, name, kind, previous_value, new_value, changed_at, changed_by)
    SELECT change.*, statement_timestamp(), ${caller.userId}
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS change (tenant_id uuid, id uuid, scope text,
      user_id text, name text, kind text, previous_value text, new_value text)`;
  await writeSettingsChanged(tx, caller, changes, [...writes, recorded]);
}

/** Of one setting at one level, at least. */
const CHANGES_KEPT = 500;
/** Finding what is older reads all that stays, so one change of so many does it, whichever that is. */
const CHANGES_PER_REMOVAL = 50;
const REMOVED_MAX = 1_000;

/** Whether a change is one of those that remove older ones from the history of their setting. */
export const isRemovalDue = (): boolean => Math.random() < 1 / CHANGES_PER_REMOVAL;

/** The history of a setting at a level from the newest change on, without those that stay, as the end of a statement. */
export const OLD_CHANGES = `ORDER BY changed_at DESC, id DESC OFFSET ${CHANGES_KEPT} LIMIT ${REMOVED_MAX}`;

/** Removes changes from the history of a setting that are older than the newest ones, now and then. */
export async function removeOldChanges(
  tx: RawStatements,
  { tenantId, scope, userId }: Level,
  name: string,
): Promise<void> {
  if (!isRemovalDue()) return;
  await send(
    tx,
    `DELETE FROM setting_change WHERE tenant_id = $1::uuid AND id = ANY (ARRAY(
       SELECT id FROM setting_change
       WHERE tenant_id = $1::uuid AND scope = $2 AND user_id = $3 AND name = $4 ${OLD_CHANGES}))`,
    tenantId,
    scope,
    userId,
    name,
  );
}

/**
 * Removes the oldest changes of a tenant, of whatever settings, so many of them. Ids are in the order of time; changes that
 * something else removes at the moment are left to it, and no step reads again what the last one removed.
 */
export async function removeOldestChanges(
  db: Pick<TenantDatabase<RawStatements>, 'inTenant'>,
  tenantId: string,
  rows: number,
): Promise<void> {
  let last = NIL_ID;
  for (let left = Math.ceil(rows); left > 0;) {
    const removed = await db.inTenant(tenantId, (tx) =>
      tx.$queryRawUnsafe<{ id: string }[]>(
        `DELETE FROM setting_change WHERE tenant_id = $1::uuid AND id = ANY (ARRAY(
           SELECT id FROM setting_change WHERE tenant_id = $1::uuid AND id > $2::uuid
           ORDER BY id LIMIT $3::integer FOR UPDATE SKIP LOCKED))
         RETURNING id`,
        tenantId,
        last,
        Math.min(left, REMOVED_MAX),
      ),
    );
    if (removed.length === 0) return;
    last = removed.map(({ id }) => id).reduce((newest, id) => (id > newest ? id : newest));
    left -= removed.length;
  }
}
