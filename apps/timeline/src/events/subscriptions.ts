import { exportFinished, importFinished, importUndone } from '@plinth/contracts/data-exchange/events';
import { allEvents } from '@plinth/contracts/events';
import { settingChanged } from '@plinth/contracts/settings/events';
import { templatePublished } from '@plinth/contracts/template/events';
import { isEntityNoted } from '@plinth/contracts/timeline/entity-noted';
import { notificationsDue } from '@plinth/contracts/timeline/events';
import { transitionExecuted } from '@plinth/contracts/workflow/events';
import type { RowQuota } from '@plinth/http/row-quota';
import type { Clock } from '@plinth/kernel/clock';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import {
  reading,
  subscriptionOfMany,
  subscriptionsOfOneHandler,
  type EventReader,
  type Subscription,
} from '@plinth/runtime/messaging/subscription';
import type { BackgroundTask } from '@plinth/runtime/process/background-task';
import { transitionMessage } from '../domain/transition-message';
import type { Prisma } from '../generated/client';
import { createNotifications } from '../store/notification-store';
import { findDisplayName } from '../store/people-store';
import { insertSystemLogs, type SystemLog, type SystemLogOfEvent } from '../store/system-log-store';
import { keysOfEntities, type WakeSignal } from './wake-signal';

type Tx = Prisma.TransactionClient;

/** The author of a system log whose event names no actor. */
const SYSTEM = 'system';

// No numbers of rows: who reads timelines may not see the rows of a definition.
const exportKeys: Record<PayloadOf<typeof exportFinished>['status'], string> = {
  Completed: 'exchange.export-completed',
  Failed: 'exchange.export-failed',
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

/** Whom this service's own entries notify, and what other services publish about their entities. */
export const subscriptions = ({
  signal,
  timelineSignal,
  notificationQuota,
  dueEntries,
  sharesEntries,
  clock,
}: {
  signal: WakeSignal;
  timelineSignal: WakeSignal;
  notificationQuota: Pick<RowQuota, 'tryTake'>;
  dueEntries: Pick<BackgroundTask, 'wake'>;
  sharesEntries: boolean;
  clock: Clock;
}): Subscription<Tx>[] => [
  subscriptionOfMany(
    notificationsDue,
    async (tx: Tx, tenantId, events) => {
      const entryIds = events.map(({ payload }) => payload.entryId);
      const { userIds, isDue } = await createNotifications(
        tx,
        tenantId,
        entryIds,
        clock.now(),
        notificationQuota,
      );
      return () => {
        signal.wake(tenantId, userIds);
        if (isDue) dueEntries.wake();
      };
    },
    // The counters of people, whatever entities they are notified of, are locked in one order and behind those of entities.
    { isLast: true },
  ),
  ...subscriptionsOfOneHandler(systemLogs, writeSystemLogs(timelineSignal, sharesEntries)),
];

/** What the system says of an event, and who caused it. */
interface LoggedEvent {
  event: EventEnvelope;
  log: SystemLog | undefined;
  actorId: string;
}

const systemLogOf = <E extends EventType>(
  type: E,
  toLog: (payload: PayloadOf<E>) => SystemLog | undefined,
  actorOf: (payload: PayloadOf<E>) => string | undefined = () => undefined,
): EventReader<LoggedEvent> =>
  reading(type, (event) => ({
    event,
    log: toLog(event.payload),
    actorId: actorOf(event.payload) ?? event.actorId ?? SYSTEM,
  }));

const systemLogs: readonly EventReader<LoggedEvent>[] = [
  systemLogOf(
    transitionExecuted,
    (transition) => {
      const { entityType, entityId, newState, approvalEnd } = transition;
      const isPublication = approvalEnd === undefined || approvalEnd === 'Approved';
      // The template service publishes an event of its own for this.
      if (entityType === 'Template' && newState === 'Published' && isPublication) return undefined;
      return { entityType, entityIds: [entityId], message: transitionMessage(transition) };
    },
    ({ transitionedBy }) => transitionedBy,
  ),
  systemLogOf(templatePublished, ({ name, culture }) => ({
    entityType: 'Template',
    entityIds: [culture ? `${name}~${culture}` : name],
    message: { key: 'template.published', values: {} },
  })),
  systemLogOf(settingChanged, ({ scope, names }) => {
    // A person's own settings are private.
    if (scope === 'user') return undefined;
    const key = scope === 'tenant' ? 'settings.changed-for-tenant' : 'settings.changed-for-platform';
    return { entityType: 'Setting', entityIds: names, message: { key, values: {} } };
  }),
  systemLogOf(exportFinished, ({ jobId, definitionName, status }) => ({
    entityType: 'ExportJob',
    entityIds: [jobId],
    message: { key: exportKeys[status], values: { definitionName } },
  })),
  systemLogOf(importFinished, ({ jobId, definitionName, status }) => ({
    entityType: 'ImportJob',
    entityIds: [jobId],
    message: { key: importKeys[status], values: { definitionName } },
  })),
  systemLogOf(importUndone, ({ jobId, definitionName, status }) => ({
    entityType: 'ImportJob',
    entityIds: [jobId],
    message: { key: undoKeys[status], values: { definitionName } },
  })),
  ...allEvents.filter(isEntityNoted).map((noted) =>
    systemLogOf(noted, ({ entityType, entityIds, texts }) => ({
      entityType,
      entityIds,
      message: { key: 'entity.noted', values: texts },
    })),
  ),
];

/**
 * Writes system logs of the entities that events are about, by their actors and with their dates: those of all events of a
 * transaction together, since one of them may be about entities that others are about too.
 */
const writeSystemLogs =
  (timelineSignal: WakeSignal, sharesEntries: boolean) =>
  async (tx: Tx, tenantId: string, logged: readonly LoggedEvent[]): Promise<(() => void) | void> => {
    const logs: SystemLogOfEvent[] = [];
    for (const { event, log, actorId } of logged) {
      if (!log) continue;
      const actorName = await actorNameOf(tx, event, actorId);
      logs.push({ ...log, actorId, actorName, at: new Date(event.occurredAt) });
    }
    if (logs.length === 0) return;
    await insertSystemLogs(tx, tenantId, logs, { sharesEntries });
    const keys = logs.flatMap(({ entityType, entityIds }) => keysOfEntities(entityType, entityIds));
    return () => timelineSignal.wake(tenantId, keys);
  };

async function actorNameOf(tx: Tx, event: EventEnvelope, userId: string): Promise<string> {
  if (event.actorName !== null && event.actorId === userId) return event.actorName;
  return (await findDisplayName(tx, event.tenantId, userId)) ?? userId;
}
