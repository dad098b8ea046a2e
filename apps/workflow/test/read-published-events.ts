import type { EventType, PayloadOf } from '@plinth/kernel/event';
import type { Workflow } from './start-workflow';

/** The payloads of the events of one type that the service published for a tenant, oldest first. */
export const publishedEvents = <E extends EventType>(
  { db }: Workflow,
  tenantId: string,
  { name }: E,
): Promise<PayloadOf<E>[]> =>
  db.inTenant(tenantId, async (tx) => {
    const rows = await tx.$queryRaw<
      { payload: PayloadOf<E> }[]
    >`SELECT payload FROM outbox WHERE name = ${name} ORDER BY sequence`;
    return rows.map(({ payload }) => payload);
  });
