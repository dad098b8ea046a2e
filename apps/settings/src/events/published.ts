import {
  apiKeyCreated,
  apiKeyRevoked,
  settingChanged,
  userSettingChanged,
} from '@plinth/contracts/settings/events';
import type { Caller } from '@plinth/kernel/caller';
import { appendToOutbox, writeWithEvents } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Sql } from '@plinth/runtime/postgres/raw-statements';
import type { ApiKeyGrant } from '../domain/api-key';
import type { Level } from '../domain/level';

/**
 * Writes changes of settings, and publishes one event for each level at which they are.
 * @param changes one at least
 * @param writes what writes them
 */
export function writeSettingsChanged(
  tx: RawStatements,
  caller: Caller,
  changes: readonly { level: Level; name: string }[],
  writes: readonly Sql[],
): Promise<void> {
  const changesByLevel = Map.groupBy(changes, ({ level: { scope, userId } }) =>
    JSON.stringify([scope, userId]),
  );
  const events = Array.from(changesByLevel.values(), (ofLevel) => {
    const { tenantId, scope, userId } = ofLevel[0]!.level;
    const names = ofLevel.map(({ name }) => name);
    return {
      type: scope === 'user' ? userSettingChanged : settingChanged,
      tenantId,
      subject: names.length === 1 ? names[0]! : 'settings',
      payload: { scope, userId: userId || null, names },
      actor: caller,
    };
  });
  return writeWithEvents(tx, writes, ...events);
}

/** Publishes that an API key was created, in the transaction of its creation. */
export const publishApiKeyCreated = (
  tx: RawStatements,
  caller: Caller,
  { id, name, permissions, expiresAt }: ApiKeyGrant & { id: string },
): Promise<void> =>
  appendToOutbox(tx, {
    type: apiKeyCreated,
    tenantId: caller.tenantId,
    subject: id,
    payload: { id, name, permissions, expiresAt: expiresAt.toISOString() },
    actor: caller,
  });

/** Publishes that an API key was revoked, in the transaction of its revocation. */
export const publishApiKeyRevoked = (
  tx: RawStatements,
  caller: Caller,
  key: { id: string; name: string },
): Promise<void> =>
  appendToOutbox(tx, {
    type: apiKeyRevoked,
    tenantId: caller.tenantId,
    subject: key.id,
    payload: key,
    actor: caller,
  });
