import { settingChanged } from '@plinth/contracts/settings/events';
import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import { HOST_TENANT_ID, type Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { requireMatch, type IfMatch } from '@plinth/kernel/entity-tag';
import { newId } from '@plinth/kernel/uuid';
import type { ListRequest } from '@plinth/conventions/paging';
import { findPage, toWhere } from '@plinth/conventions/prisma-list';
import { appendToOutbox, type OutboxRelay } from '@plinth/runtime/outbox';
import type { TenantDatabase } from '@plinth/runtime/postgres';
import { lockAbove, type LevelValues, type Locks } from '../domain/cascade';
import { scopeNotAllowed, settingLocked } from '../domain/problems';
import { requireFittingValue } from '../domain/value-schema';
import { tagOf, visibleValue } from '../domain/visible-value';
import type { Prisma, SettingChange } from '../generated/client';
import type { DefinitionStore } from './definition-store';
import type { SecretBox } from './secret-box';

/** A change somewhere: which readings it makes stale follows from the scope. */
export interface SettingChanged {
  tenantId: string;
  scope: SettingScope;
  userId: string | null;
}

/** Everything set that may concern one user: values by name as stored, and what is locked. */
export interface Snapshot {
  user: ReadonlyMap<string, string>;
  tenant: ReadonlyMap<string, string>;
  global: ReadonlyMap<string, string>;
  lockedByTenant: ReadonlySet<string>;
  lockedByPlatform: ReadonlySet<string>;
}

/** Whose level is meant; global values are rows of the host tenant. */
export interface Level {
  tenantId: string;
  scope: SettingScope;
  /** Empty except at user scope. */
  userId: string;
}

export const levelOf = (caller: Caller, scope: SettingScope): Level => ({
  tenantId: scope === 'global' ? HOST_TENANT_ID : caller.tenantId,
  scope,
  userId: scope === 'user' ? caller.userId : '',
});

export interface SettingStore {
  readSnapshot(tenantId: string, userId: string): Promise<Snapshot>;
  /** What is set at each level for one setting, secrets still sealed. */
  levelValues(snapshot: Snapshot, definition: SettingDefinition): LevelValues;
  /** Sets a value, or clears it with null. @throws Problem when locked, not allowed at this scope, or not fitting. */
  write(
    caller: Caller,
    scope: SettingScope,
    definition: SettingDefinition,
    value: string | null,
    ifMatch?: IfMatch,
  ): Promise<void>;
  lock(caller: Caller, scope: SettingScope, definition: SettingDefinition): Promise<void>;
  unlock(caller: Caller, scope: SettingScope, definition: SettingDefinition): Promise<void>;
  history(
    level: Level,
    name: string,
    list: ListRequest,
  ): Promise<{ rows: SettingChange[]; totalCount: number | null }>;
  /** Hears of every change of this process, after its commit. */
  onChange(listener: (change: SettingChanged) => void): void;
}

interface Parts {
  db: TenantDatabase<Prisma.TransactionClient>;
  definitions: DefinitionStore;
  box: SecretBox;
  outbox: OutboxRelay;
  clock: Clock;
  /** The Config level of the cascade. */
  config: Record<string, string>;
}

type Change = Pick<SettingChange, 'kind' | 'previousValue' | 'newValue'>;

export const locksOf = (snapshot: Snapshot, name: string): Locks => ({
  tenant: snapshot.lockedByTenant.has(name),
  global: snapshot.lockedByPlatform.has(name),
});

export function settingStore({ db, box, outbox, clock, config }: Parts): SettingStore {
  const listeners: ((change: SettingChanged) => void)[] = [];

  const levelValues: SettingStore['levelValues'] = (snapshot, { name, defaultValue }) => ({
    user: snapshot.user.get(name) ?? null,
    tenant: snapshot.tenant.get(name) ?? null,
    global: snapshot.global.get(name) ?? null,
    config: Object.hasOwn(config, name) ? config[name]! : null,
    default: defaultValue,
  });

  /** Makes one change of one setting: once per operation, in order with others, told and noted. */
  const change = async (
    caller: Caller,
    scope: SettingScope,
    definition: SettingDefinition,
    apply: (tx: Prisma.TransactionClient, level: Level, snapshot: Snapshot) => Promise<Change | undefined>,
  ): Promise<void> => {
    if (!definition.scopes.includes(scope)) throw scopeNotAllowed(definition.name, scope);
    const level = levelOf(caller, scope);
    const userId = level.userId || null;
    await db.inTenant(level.tenantId, async (tx) => {
      await takeTurn(tx, `${level.tenantId}/${definition.name}`);
      if (await isDone(tx, level, definition.name, caller.operationId)) return;
      const snapshot = await readRows(tx, level.tenantId, level.userId);
      const lockedBy = lockAbove(locksOf(snapshot, definition.name), scope);
      if (lockedBy) throw settingLocked(definition.name, lockedBy);
      const made = await apply(tx, level, snapshot);
      if (!made) return;
      await note(tx, level, definition, made, caller, clock.now());
      await appendToOutbox(tx, {
        type: settingChanged,
        tenantId: level.tenantId,
        subject: definition.name,
        payload: { scope, userId, names: [definition.name] },
        actor: caller,
      });
    });
    outbox.wake();
    for (const listener of listeners) listener({ tenantId: level.tenantId, scope, userId });
  };

  return {
    levelValues,
    onChange: (listener) => void listeners.push(listener),
    readSnapshot: (tenantId, userId) => db.inTenant(tenantId, (tx) => readRows(tx, tenantId, userId)),

    async write(caller, scope, definition, value, ifMatch) {
      if (value !== null) requireFittingValue(definition, value);
      await change(caller, scope, definition, async (tx, level, snapshot) => {
        requireMatch(
          ifMatch,
          tagOf(definition, levelValues(snapshot, definition), locksOf(snapshot, definition.name), scope),
        );
        const previousValue = snapshot[scope].get(definition.name) ?? null;
        if (value === null && previousValue === null) return undefined;
        const newValue = value !== null && definition.isSecret ? box.seal(value) : value;
        const key = { ...level, name: definition.name };
        if (newValue === null) await tx.settingValue.deleteMany({ where: key });
        else {
          await tx.settingValue.upsert({
            where: { tenantId_scope_userId_name: key },
            create: { ...key, value: newValue },
            update: { value: newValue },
          });
        }
        return { kind: newValue === null ? 'Cleared' : 'Set', previousValue, newValue };
      });
    },

    async lock(caller, scope, definition) {
      if (scope === 'user') throw scopeNotAllowed(definition.name, scope);
      await change(caller, scope, definition, async (tx, { tenantId }) => {
        const { count } = await tx.settingLock.createMany({
          data: { tenantId, scope, name: definition.name, lockedBy: caller.userId },
          skipDuplicates: true,
        });
        return count > 0 ? { kind: 'Locked', previousValue: null, newValue: null } : undefined;
      });
    },

    async unlock(caller, scope, definition) {
      if (scope === 'user') throw scopeNotAllowed(definition.name, scope);
      await change(caller, scope, definition, async (tx, { tenantId }) => {
        const { count } = await tx.settingLock.deleteMany({
          where: { tenantId, scope, name: definition.name },
        });
        return count > 0 ? { kind: 'Unlocked', previousValue: null, newValue: null } : undefined;
      });
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

/** Changes of one setting wait for each other, so that each sees what the one before left. */
const takeTurn = (tx: Prisma.TransactionClient, key: string) =>
  tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))`;

/** Silences, row 14: a repeated operation finds its first effect and makes no second one. */
async function isDone(
  tx: Prisma.TransactionClient,
  level: Level,
  name: string,
  operationId?: string,
): Promise<boolean> {
  if (operationId === undefined) return false;
  const where = { tenantId_operationId_name: { tenantId: level.tenantId, operationId, name } };
  return (await tx.settingChange.findUnique({ where, select: { id: true } })) !== null;
}

async function readRows(tx: Prisma.TransactionClient, tenantId: string, userId: string): Promise<Snapshot> {
  const ofPlatform = { tenantId: HOST_TENANT_ID, scope: 'global' };
  const values = await tx.settingValue.findMany({
    where: { OR: [ofPlatform, { tenantId, scope: 'tenant' }, { tenantId, scope: 'user', userId }] },
  });
  const locks = await tx.settingLock.findMany({ where: { OR: [ofPlatform, { tenantId, scope: 'tenant' }] } });
  const at = (scope: SettingScope) =>
    new Map(values.filter((row) => row.scope === scope).map(({ name, value }) => [name, value]));
  const lockedAt = (scope: SettingScope) =>
    new Set(locks.filter((row) => row.scope === scope).map(({ name }) => name));
  return {
    user: at('user'),
    tenant: at('tenant'),
    global: at('global'),
    lockedByTenant: lockedAt('tenant'),
    lockedByPlatform: lockedAt('global'),
  };
}

async function note(
  tx: Prisma.TransactionClient,
  level: Level,
  definition: SettingDefinition,
  { kind, previousValue, newValue }: Change,
  caller: Caller,
  changedAt: Date,
): Promise<void> {
  await tx.settingChange.create({
    data: {
      ...level,
      id: newId(),
      name: definition.name,
      kind,
      previousValue: visibleValue(definition, previousValue),
      newValue: visibleValue(definition, newValue),
      changedAt,
      changedBy: caller.userId,
      operationId: caller.operationId ?? null,
    },
  });
}
