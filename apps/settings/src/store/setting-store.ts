import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { ListRequest } from '@plinth/http/paging';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import { readAtOneInstant } from '@plinth/runtime/postgres/at-one-instant';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import { findOperation, operationRecorded, recordOperation } from '@plinth/runtime/postgres/run-once';
import { levelOf, levelsOf, type Level } from '../domain/level';
import {
  decideChange,
  requireAllowed,
  tagAfter,
  type SettingChange,
  type SettingCommand,
} from '../domain/setting-change';
import { definitionIn, snapshotOf, type Snapshot, type StoredLevel } from '../domain/snapshot';
import { visibleValue } from '../domain/visible-value';
import type { Prisma, SettingChange as SettingChangeRow } from '../generated/client';
import type { ChangeQuota } from './change-quota';
import type { SecretBox } from './secret-box';
import { recordChanges, removeOldChanges, serializeChangesAt } from './setting-changes';
import { readLevels, type LevelsByScope, type StoredLevels } from './stored-settings';

export type { SettingChangeRow };
type Tx = Prisma.TransactionClient;

export interface SettingStore {
  /** Everything set that may concern one user, as it is at one instant. */
  readSnapshot(tenantId: string, userId: string): Promise<Snapshot>;
  /** What is set at some levels that concern the users of a tenant, as it is at one instant. */
  readLevels<Levels extends LevelsByScope>(tenantId: string, levels: Levels): Promise<StoredLevels<Levels>>;
  /** Levels that were read, with those that this process knows anyway. */
  toSnapshot(levels: Record<SettingScope, StoredLevel>): Snapshot;
  /**
   * Changes one setting at one scope, once per operation. Returns its tag as seen there afterwards; versions before stored
   * none for the retry of an operation.
   * @throws Problem where the change is refused
   */
  change(
    caller: Caller,
    scope: SettingScope,
    definition: SettingDefinition,
    command: SettingCommand,
  ): Promise<{ etag?: string }>;
  history(
    level: Level,
    name: string,
    list: ListRequest,
  ): Promise<{ rows: SettingChangeRow[]; totalCount: number | null }>;
  /** Calls back after the commit of every change made by this process. */
  onChange(listener: (level: Level) => void): void;
}

interface Parts {
  db: TenantDatabase<Tx>;
  box: SecretBox;
  /** The Config level of the cascade. */
  config: Record<string, string>;
  quota: Pick<ChangeQuota, 'take'>;
}

export function settingStore({ db, box, config, quota }: Parts): SettingStore {
  const listeners: ((level: Level) => void)[] = [];
  const configValues = new Map(Object.entries(config));
  const toSnapshot = (levels: Record<SettingScope, StoredLevel>) => snapshotOf(levels, configValues);
  const read = async (
    tx: Tx,
    { tenantId, userId }: { tenantId: string; userId: string },
    name?: string,
  ): Promise<Snapshot> => toSnapshot(await readLevels(tx, levelsOf(tenantId, userId), name));

  return {
    onChange: (listener) => void listeners.push(listener),
    readSnapshot: (tenantId, userId) => db.inTenant(tenantId, (tx) => read(tx, { tenantId, userId }), 'once'),
    readLevels: (tenantId, levels) => db.inTenant(tenantId, (tx) => readLevels(tx, levels), 'once'),
    toSnapshot,

    async change(caller, scope, known, command) {
      requireAllowed(known, scope, command);
      const { name } = known;
      // A request may change many settings, each in a transaction of its own.
      const operationId = caller.operationId && `${caller.operationId}/${name}`;
      const level = levelOf(caller, scope);
      const tag = await db.inTenant(
        level.tenantId,
        async (tx) => {
          await serializeChangesAt(tx, level, name);
          // A repeated operation waited for the first one, since it is about the same setting.
          const operation = { ...caller, tenantId: level.tenantId, operationId };
          const [executed, snapshot] = await Promise.all([
            findOperation<{ etag: string } | null>(tx, operation),
            read(tx, level, name),
          ]);
          if (executed) return executed.result;
          const definition = definitionIn(snapshot, known);
          const change = decideChange(snapshot, definition, scope, command);
          const stored =
            change?.kind === 'Set' && definition.isSecret
              ? { ...change, newValue: box.seal(change.newValue) }
              : change;
          const result = { etag: tagAfter(snapshot, definition, scope, stored) };
          if (!change || !stored) {
            await recordOperation(tx, operation, result);
            return result;
          }
          if (stored.kind === 'Set') quota.take(level.tenantId, stored.newValue, stored.previousValue);
          const previousValue = visibleValue(definition, change.previousValue);
          const newValue = visibleValue(definition, change.newValue);
          const { kind } = change;
          const saved = saving({ ...level, name }, stored, caller);
          const recorded = operationRecorded(operation, result);
          await Promise.all([
            recordChanges(
              tx,
              caller,
              [{ level, name, kind, previousValue, newValue }],
              recorded ? [saved, recorded] : [saved],
            ),
            removeOldChanges(tx, level, name),
          ]);
          return result;
        },
        'once',
      );
      for (const listener of listeners) listener(level);
      return tag ?? {};
    },

    history: (level, name, list) =>
      db.inTenant(level.tenantId, async (tx) => {
        await readAtOneInstant(tx);
        return findPage(list, {
          selection: { AND: [{ ...level, name }, toWhere(list, ['changedBy'])] },
          dates: ['changedAt'],
          find: (page) => tx.settingChange.findMany(page),
          count: (all) => tx.settingChange.count(all),
        });
      }),
  };
}

/** What writes a change: statements by hand, which find rows by their whole keys, so that they are planned once. */
function saving(
  { tenantId, scope, userId, name }: Level & { name: string },
  change: SettingChange,
  caller: Caller,
): Sql {
  switch (change.kind) {
    case 'Set':
      return sql`
        INSERT INTO setting_value (tenant_id, scope, user_id, name, value)
        VALUES (${tenantId}::uuid, ${scope}, ${userId}, ${name}, ${change.newValue})
        ON CONFLICT (tenant_id, scope, user_id, name) DO UPDATE SET value = excluded.value`;
    case 'Cleared':
      return sql`
        DELETE FROM setting_value
        WHERE tenant_id = ${tenantId}::uuid AND scope = ${scope} AND user_id = ${userId} AND name = ${name}`;
    case 'Locked':
      return sql`
        INSERT INTO setting_lock (tenant_id, scope, name, locked_by)
        VALUES (${tenantId}::uuid, ${scope}, ${name}, ${caller.userId})`;
    case 'Unlocked':
      return sql`
        DELETE FROM setting_lock WHERE tenant_id = ${tenantId}::uuid AND scope = ${scope} AND name = ${name}`;
  }
}
