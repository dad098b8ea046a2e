import { exportFinished, importFinished, importUndone } from '@plinth/contracts/data-exchange/events';
import { allEvents } from '@plinth/contracts/events';
import { settingChanged } from '@plinth/contracts/settings/events';
import { templatePublished } from '@plinth/contracts/template/events';
import { isEntityNoted } from '@plinth/contracts/timeline/entity-noted';
import { entryAdded } from '@plinth/contracts/timeline/events';
import { transitionExecuted } from '@plinth/contracts/workflow/events';
import type { RowQuota } from '@plinth/http/row-quota';
import type { Clock } from '@plinth/kernel/clock';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { subscription, type Subscription } from '@plinth/runtime/messaging/inbox';
import type { Prisma } from '../generated/client';
import { createNotifications } from '../store/notification-store';
import { findDisplayName } from '../store/people-store';
import { insertSystemLogs, type SystemLog } from '../store/system-log-store';
import { entityKey, type WakeSignal } from './wake-signal';

type Tx = Prisma.TransactionClient;

/** The author of a system log whose event names no actor. */
const SYSTEM = 'system';

/** This service's own new entries, and what other services publish about their entities. */
export const subscriptions = ({
  signal,
  timelineSignal,
  notificationQuota,
  clock,
}: {
  signal: WakeSignal;
  timelineSignal: WakeSignal;
  notificationQuota: Pick<RowQuota, 'tryTake'>;
  clock: Clock;
}): Subscription<Tx>[] => {
  const systemLogsOf = systemLogsWith(timelineSignal);
  return [
    subscription(entryAdded, async (tx: Tx, { tenantId, payload }) => {
      const { entryId } = payload;
      const userIds = await createNotifications(tx, tenantId, entryId, clock.now(), notificationQuota);
      return () => signal.wake(tenantId, userIds);
    }),
    systemLogsOf(
      transitionExecuted,
      ({ entityType, entityId, previousState, newState, comment }) => {
        // The template service publishes an event of its own for this.
        if (entityType === 'Template' && newState === 'Published') return [];
        const key = comment ? 'workflow.moved-with-comment' : 'workflow.moved';
        const message = { key, values: { previousState, newState, comment: comment ?? '' } };
        return [{ entityType, entityId, message }];
      },
      ({ transitionedBy }) => transitionedBy,
    ),
    systemLogsOf(templatePublished, ({ name, culture }) => [
      {
        entityType: 'Template',
        entityId: culture ? `${name}~${culture}` : name,
        message: { key: 'template.published', values: {} },
      },
    ]),
    systemLogsOf(settingChanged, ({ scope, names }) => {
      // A person's own settings are private.
      if (scope === 'user') return [];
      const key = scope === 'tenant' ? 'settings.changed-for-tenant' : 'settings.changed-for-platform';
      return names.map((name) => ({ entityType: 'Setting', entityId: name, message: { key, values: {} } }));
    }),
    systemLogsOf(exportFinished, ({ jobId, definitionName, status, rowCount }) => {
      const counted = rowCount === null ? 'exchange.export-completed-uncounted' : 'exchange.export-completed';
      const key = status === 'Completed' ? counted : 'exchange.export-failed';
      const message = { key, values: { definitionName, rowCount: rowCount ?? 0 } };
      return [{ entityType: 'ExportJob', entityId: jobId, message }];
    }),
    systemLogsOf(importFinished, ({ jobId, status, ...values }) => [
      { entityType: 'ImportJob', entityId: jobId, message: { key: importKeys[status], values } },
    ]),
    systemLogsOf(importUndone, ({ jobId, status, ...values }) => [
      { entityType: 'ImportJob', entityId: jobId, message: { key: undoKeys[status], values } },
    ]),
    ...allEvents.filter(isEntityNoted).map((noted) =>
      systemLogsOf(noted, ({ entityType, entityIds, texts }) =>
        entityIds.map((entityId) => ({
          entityType,
          entityId,
          message: { key: 'entity.noted', values: texts },
        })),
      ),
    ),
  ];
};

const importKeys: Record<PayloadOf<typeof importFinished>['status'], string> = {
  Completed: 'exchange.import-completed',
  PartiallyCompleted: 'exchange.import-partially-completed',
  Failed: 'exchange.import-failed',
  Cancelled: 'exchange.import-cancelled',
};

const undoKeys: Record<PayloadOf<typeof importUndone>['status'], string> = {
  Undone: 'exchange.import-undone',
  PartiallyUndone: 'exchange.import-partially-undone',
  Failed: 'exchange.import-undo-failed',
};

/** Writes system logs of the entities that an event is about, by its actor and with its date. */
const systemLogsWith =
  (timelineSignal: WakeSignal) =>
  <E extends EventType>(
    type: E,
    toLogs: (payload: PayloadOf<E>) => SystemLog[],
    actorOf: (payload: PayloadOf<E>) => string | undefined = () => undefined,
  ): Subscription<Tx> =>
    subscription(type, async (tx: Tx, event: EventEnvelope<PayloadOf<E>>) => {
      const actorId = actorOf(event.payload) ?? event.actorId ?? SYSTEM;
      const actorName = await actorNameOf(tx, event, actorId);
      const at = new Date(event.occurredAt);
      const logs = toLogs(event.payload);
      await insertSystemLogs(tx, event.tenantId, logs, { actorId, actorName, at });
      return () => timelineSignal.wake(event.tenantId, logs.map(entityKey));
    });

async function actorNameOf(tx: Tx, event: EventEnvelope, userId: string): Promise<string> {
  if (event.actorName !== null && event.actorId === userId) return event.actorName;
  return (await findDisplayName(tx, event.tenantId, userId)) ?? userId;
}
