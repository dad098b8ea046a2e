import { overrideChanged } from '@plinth/contracts/localization/events';
import type { Caller } from '@plinth/kernel/caller';
import { appendToOutbox } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Bundle } from '../domain/texts';

/** Bundles in one event, which with the longest names of resources is as large as an event may be. */
const BUNDLES_MAX = 1_000;

/**
 * Publishes that overrides of a tenant changed, in the transaction of the change: as one event, unless there are very many
 * bundles.
 */
export async function publishOverridesChanged(
  tx: RawStatements,
  { tenantId, userId, userName }: Pick<Caller, 'tenantId' | 'userId' | 'userName'>,
  changed: readonly Bundle[],
): Promise<void> {
  const byName = Map.groupBy(changed, ({ resourceName, cultureName }) =>
    JSON.stringify([resourceName, cultureName]),
  );
  const ofBundles = [...byName.values()];
  const events = Array.from({ length: Math.ceil(ofBundles.length / BUNDLES_MAX) }, (_, index) => {
    const some = ofBundles.slice(index * BUNDLES_MAX, (index + 1) * BUNDLES_MAX);
    const bundles = some.map(([one]) => ({ resourceName: one!.resourceName, cultureName: one!.cultureName }));
    const payload = { changeCount: some.flat().length, bundles };
    return { type: overrideChanged, tenantId, subject: 'overrides', payload, actor: { userId, userName } };
  });
  await appendToOutbox(tx, ...events);
}
