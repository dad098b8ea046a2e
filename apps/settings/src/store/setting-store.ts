import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { ListRequest } from '@plinth/http/paging';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import { findOperation, operationRecorded, recordOperation } from '@plinth/runtime/postgres/run-once';
import { levelOf, type Level } from '../domain/level';
import {
  decideChange,
  requireAllowed,
  type SettingChange,
  type SettingCommand,
} from '../domain/setting-change';
import type { Snapshot } from '../domain/snapshot';
import { visibleValue } from '../domain/visible-value';
import type { Prisma, SettingChange as SettingChangeRow } from '../generated/client';
import type { SecretBox } from './secret-box';
import { recordChanges, removeOldChanges, serializeChangesAt } from './setting-changes';
import { readStoredSettings } from './stored-settings';

export type { SettingChangeRow };
type Tx = Prisma.TransactionClient;

export interface SettingStore {
  /** Everything set that may concern one user. */
  readSnapshot(tenantId: string, userId: string): Promise<Snapshot>;
  /** Changes one setting at one scope, once per operation. @throws Problem where the change is refused. */
  change(
    caller: Caller,
    scope: SettingScope,
    definition: SettingDefinition,
    command: SettingCommand,
  ): Promise<void>;
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
}

export function settingStore({ db, box, config }: Parts): SettingStore {
  const listeners: ((level: Level) => void)[] = [];
  const configValues = new Map(Object.entries(config));
  const read = async (
    tx: Tx,
    user: { tenantId: string; userId: string },
    name?: string,
  ): Promise<Snapshot> => {
    const { values, locked } = await readStoredSettings(tx, user, name);
    return { values: { ...values, config: configValues }, locked };
  };

  return {
    onChange: (listener) => void listeners.push(listener),
    readSnapshot: (tenantId, userId) => db.inTenant(tenantId, (tx) => read(tx, { tenantId, userId }), 'once'),

    async change(caller, scope, definition, command) {
      requireAllowed(definition, scope, command);
      const { name } = definition;
      // A request may change many settings, each in a transaction of its own.
      const operationId = caller.operationId && `${caller.operationId}/${name}`;
      const level = levelOf(caller, scope);
      await db.inTenant(
        level.tenantId,
        async (tx) => {
          await serializeChangesAt(tx, level, name);
          // A repeated operation waited for the first one, since it is about the same setting.
          const operation = { ...caller, tenantId: level.tenantId, operationId };
          const [executed, snapshot] = await Promise.all([
            findOperation(tx, operation),
            read(tx, level, name),
          ]);
          if (executed) return;
          const change = decideChange(snapshot, definition, scope, command);
          if (!change) return recordOperation(tx, operation, null);
          const previousValue = visibleValue(definition, change.previousValue);
          const newValue = visibleValue(definition, change.newValue);
          const { kind } = change;
          const saved = saving({ ...level, name }, change, caller, (value) =>
            definition.isSecret ? box.seal(value) : value,
          );
          const recorded = operationRecorded(operation, null);
          await Promise.all([
            recordChanges(
              tx,
              caller,
              [{ level, name, kind, previousValue, newValue }],
              recorded ? [saved, recorded] : [saved],
            ),
            removeOldChanges(tx, level, name),
          ]);
        },
        'once',
      );
      for (const listener of listeners) listener(level);
    },

    history: (level, name, list) =>
      db.inTenant(level.tenantId, (tx) =>
        findPage(list, {
          selection: { AND: [{ ...level, name }, toWhere(list, ['changedBy'])] },
          dates: ['changedAt'],
          find: (page) => tx.settingChange.findMany(page),
          count: (all) => tx.settingChange.count(all),
        }),
      ),
  };
}

/** What writes a change: statements by hand, which find rows by their whole keys, so that they are planned once. */
function saving(
  { tenantId, scope, userId, name }: Level & { name: string },
  change: SettingChange,
  caller: Caller,
  toStored: (value: string) => string,
): Sql {
  switch (change.kind) {
    case 'Set':
      return sql`
        INSERT INTO setting_value (tenant_id, scope, user_id, name, value)
        VALUES (${tenantId}::uuid, ${scope}, ${userId}, ${name}, ${toStored(change.newValue)})
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
