import type { RowQuota } from '@plinth/http/row-quota';
import type { Clock } from '@plinth/kernel/clock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { backgroundTask, type BackgroundTask } from '@plinth/runtime/process/background-task';
import type { Log } from '@plinth/runtime/process/log';
import type { WakeSignal } from '../events/wake-signal';
import type { Prisma } from '../generated/client';
import { notifyNextFollowers, type DueEntry } from './notification-store';

type Tx = Prisma.TransactionClient;

/** Finds entries of which another process died while it notified of them. */
const POLL_MILLISECONDS = 10_000;
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
  return {
    async notifyNext() {
      const next = await db.inPlatform(async (tx) => {
        await readByIndexes(tx);
        return (lastTenantId && (await firstDue(tx, lastTenantId))) || firstDue(tx);
      });
      if (!next) return false;
      const { tenantId } = next;
      lastTenantId = tenantId;
      const userIds = await db.inTenant(tenantId, async (tx) => {
        const due = await lock(tx, next);
        if (!due) return undefined;
        const part = await notifyNextFollowers(tx, due, clock.now(), quota);
        await save(tx, due, part.lastUserId);
        return part.userIds;
      });
      // Another process is at it, and goes on with all that are due.
      if (!userIds) return false;
      signal.wake(tenantId, userIds);
      return true;
    },
  };
}

/** Notifies while entries are due, at an interval and when woken, for as long as the process lives. */
export const startNotifyingDueEntries = (due: DueEntries, log: Log): BackgroundTask =>
  backgroundTask(() => due.notifyNext(), {
    name: 'notification of many followers',
    intervalMilliseconds: POLL_MILLISECONDS,
    retryMilliseconds: RETRY_MILLISECONDS,
    log,
  });

type DueName = Pick<DueEntry, 'tenantId' | 'entryId'>;

/** The oldest due entry of the tenant that comes after this one, or of the first one. */
async function firstDue(tx: Tx, afterTenantId?: string): Promise<DueName | undefined> {
  const [first] = await (afterTenantId === undefined
    ? tx.$queryRaw<DueName[]>`
        SELECT tenant_id AS "tenantId", entry_id AS "entryId" FROM due_entry ORDER BY tenant_id, entry_id LIMIT 1`
    : tx.$queryRaw<DueName[]>`
        SELECT tenant_id AS "tenantId", entry_id AS "entryId" FROM due_entry WHERE tenant_id > ${afterTenantId}::uuid
        ORDER BY tenant_id, entry_id LIMIT 1`);
  return first;
}

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
