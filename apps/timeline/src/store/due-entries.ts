import type { RowQuota } from '@plinth/http/row-quota';
import type { Clock } from '@plinth/kernel/clock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { backgroundTask, type BackgroundTask } from '@plinth/runtime/process/background-task';
import type { Log } from '@plinth/runtime/process/log';
import { PacedWork } from '@plinth/runtime/process/paced-work';
import type { WakeSignal } from '../events/wake-signal';
import { Prisma } from '../generated/client';
import { notifyNextFollowers, type DueEntry } from './notification-store';

type Tx = Prisma.TransactionClient;

/** Finds entries of which another process died while it notified of them, as late as what else such a process left. */
const POLL_MILLISECONDS = 30_000;
/** The turn of the next tenant does not wait for the poll where an entry fails. */
const RETRY_MILLISECONDS = 1_000;

export interface DueEntries {
  /** Notifies some followers of one due entry, of the tenant whose turn it is; returns whether more may be due. */
  notifyNext(): Promise<boolean>;
}

interface Parts {
  db: TenantDatabase<Tx>;
  clock: Clock;
  quota: Pick<RowQuota, 'tryTake'>;
  signal: Pick<WakeSignal, 'wake'>;
}

/**
 * The entries whose followers are too many to be notified by the event that tells of them: everybody's events would wait
 * behind it. A process notifies some of them at a time, and each tenant has its turn after every other one that has due
 * entries, so that nobody waits behind thousands of entries of another tenant.
 */
export function dueEntries({ db, clock, quota, signal }: Parts): DueEntries {
  let lastTenantId: string | undefined;
  let listed: DueName[] = [];
  let isAll = true;
  const listing = new PacedWork(() =>
    db.inPlatform(async (tx) => {
      await readByIndexes(tx);
      return listNext(tx, lastTenantId);
    }),
  );
  const isBehind = ({ tenantId }: DueName) => lastTenantId === undefined || tenantId > lastTenantId;
  return {
    async notifyNext() {
      const isOver = isAll ? listed.length === 0 : !listed.some(isBehind);
      if (isOver || listing.isRested) ({ listed, isAll } = await listing.do());
      const next = listed.find(isBehind) ?? listed[0];
      if (!next) return false;
      const { tenantId } = next;
      lastTenantId = tenantId;
      const done = await db.inTenant(tenantId, async (tx) => {
        const due = await lock(tx, next);
        if (!due) return undefined;
        const part = await notifyNextFollowers(tx, due, clock.now(), quota);
        await save(tx, due, part.lastUserId);
        return part;
      });
      if (done?.lastUserId === undefined) listed = listed.filter((one) => one !== next);
      // Another process was at it, and goes on with all that are due.
      if (!done) return listed.length > 0;
      signal.wake(tenantId, done.userIds);
      return true;
    },
  };
}

/** Notifies while entries are due, at once, at an interval and when woken, for as long as the process lives. */
export function startNotifyingDueEntries(due: DueEntries, log: Log): BackgroundTask {
  const task = backgroundTask(() => due.notifyNext(), {
    name: 'notification of many followers',
    intervalMilliseconds: POLL_MILLISECONDS,
    retryMilliseconds: RETRY_MILLISECONDS,
    log,
  });
  // A process that was killed and started again goes on.
  task.wake();
  return task;
}

type DueName = Pick<DueEntry, 'tenantId' | 'entryId'>;

/** So that tenants whose entries are due later do not wait long for those that were listed. */
export const LISTED_OF_TENANT = 20;

/** Tenants whose entries are listed together; the ones behind them have their turns next. */
export const TENANTS_LISTED = 100;

/** All that are due where few tenants have any; else those of the tenants whose turns are next. */
async function listNext(
  tx: Tx,
  lastTenantId: string | undefined,
): Promise<{ listed: DueName[]; isAll: boolean }> {
  const listed = await listDue(tx);
  const isAll = new Set(listed.map(({ tenantId }) => tenantId)).size < TENANTS_LISTED;
  const behind = isAll ? [] : await listDue(tx, lastTenantId);
  return { listed: behind.length > 0 ? behind : listed, isAll };
}

/**
 * The oldest due entries of each of the first tenants, or the first ones behind one, which are found by one step in the
 * index for each.
 */
const listDue = (tx: Tx, behind?: string): Promise<DueName[]> => tx.$queryRaw`
  WITH RECURSIVE tenant AS (
    (SELECT tenant_id, 1 AS place FROM due_entry
      ${behind === undefined ? Prisma.empty : Prisma.sql`WHERE tenant_id > ${behind}::uuid`}
      ORDER BY tenant_id, entry_id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, place + 1 FROM tenant CROSS JOIN LATERAL (
      SELECT tenant_id FROM due_entry WHERE tenant_id > tenant.tenant_id ORDER BY tenant_id, entry_id LIMIT 1) AS next
    WHERE place < ${TENANTS_LISTED}::integer)
  SELECT tenant_id AS "tenantId", entry_id AS "entryId" FROM tenant CROSS JOIN LATERAL (
    SELECT entry_id FROM due_entry WHERE due_entry.tenant_id = tenant.tenant_id
    ORDER BY entry_id LIMIT ${LISTED_OF_TENANT}::integer) AS due`;

/** Keeps other processes from this entry until the end of the transaction; undefined where one is at it, or was. */
async function lock(tx: Tx, { tenantId, entryId }: DueName): Promise<DueEntry | undefined> {
  const [due] = await tx.$queryRaw<DueEntry[]>`
    SELECT tenant_id AS "tenantId", entry_id AS "entryId", last_user_id AS "lastUserId" FROM due_entry
    WHERE tenant_id = ${tenantId}::uuid AND entry_id = ${entryId}::uuid FOR UPDATE SKIP LOCKED`;
  return due;
}

async function save(tx: Tx, { tenantId, entryId }: DueEntry, lastUserId: string | undefined): Promise<void> {
  await (lastUserId === undefined
    ? tx.$executeRaw`DELETE FROM due_entry WHERE tenant_id = ${tenantId}::uuid AND entry_id = ${entryId}::uuid`
    : tx.$executeRaw`
        UPDATE due_entry SET last_user_id = ${lastUserId}
        WHERE tenant_id = ${tenantId}::uuid AND entry_id = ${entryId}::uuid`);
}
