import { overrideChanged } from '@plinth/contracts/localization/events';
import type { Caller } from '@plinth/kernel/caller';
import { appendToOutbox } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Bundle } from '../domain/texts';

/** Publishes that overrides of a tenant changed, as one event, in the transaction of the change. */
export async function publishOverridesChanged(
  tx: RawStatements,
  { tenantId, userId, userName }: Pick<Caller, 'tenantId' | 'userId' | 'userName'>,
  changed: readonly Bundle[],
): Promise<void> {
  const bundles = new Map(
    changed.map(({ resourceName, cultureName }) => [
      JSON.stringify([resourceName, cultureName]),
      { resourceName, cultureName },
    ]),
  );
  await appendToOutbox(tx, {
    type: overrideChanged,
    tenantId,
    subject: 'overrides',
    payload: { changeCount: changed.length, bundles: [...bundles.values()] },
    actor: { userId, userName },
  });
}
