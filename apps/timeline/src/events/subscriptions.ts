import { exportFinished, importFinished, importUndone } from '@plinth/contracts/data-exchange/events';
import { allEvents } from '@plinth/contracts/events';
import { settingChanged } from '@plinth/contracts/settings/events';
import { templatePublished } from '@plinth/contracts/template/events';
import { isEntityNoted } from '@plinth/contracts/timeline/entity-noted';
import { entryAdded } from '@plinth/contracts/timeline/events';
import { transitionExecuted } from '@plinth/contracts/workflow/events';
import type { Clock } from '@plinth/kernel/clock';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { subscription, type Subscription } from '@plinth/runtime/inbox';
import type { Prisma } from '../generated/client';
import { notify } from '../store/notification-store';
import { observe, type Observation } from '../store/system-log-store';
import type { ToldSignal } from './told-signal';

type Tx = Prisma.TransactionClient;

/** Whom a system log names when nobody in particular was behind it. */
const SYSTEM = 'system';

/** What this service listens to: its own new entries, and what other areas tell of their entities. */
export const subscriptions = ({ told, clock }: { told: ToldSignal; clock: Clock }): Subscription<Tx>[] => [
  subscription(entryAdded, async (tx: Tx, { tenantId, payload }) => {
    const userIds = await notify(tx, tenantId, payload.entryId, clock.now());
    return () => told.announce(tenantId, userIds);
  }),
  logged(
    transitionExecuted,
    ({ entityType, entityId, previousState, newState, comment }) => {
      // The publication of a template is told by the template area itself.
      if (entityType === 'Template' && newState === 'Published') return [];
      const key = comment ? 'workflow.moved-with-comment' : 'workflow.moved';
      const message = { key, values: { previousState, newState, comment: comment ?? '' } };
      return [{ entityType, entityId, message }];
    },
    ({ transitionedBy }) => transitionedBy,
  ),
  logged(templatePublished, ({ name, culture }) => [
    {
      entityType: 'Template',
      entityId: culture ? `${name}~${culture}` : name,
      message: { key: 'template.published', values: {} },
    },
  ]),
  logged(settingChanged, ({ scope, names }) => {
    // What somebody sets for themselves is nobody else's business.
    if (scope === 'user') return [];
    const key = scope === 'tenant' ? 'settings.changed-for-tenant' : 'settings.changed-for-platform';
    return names.map((name) => ({ entityType: 'Setting', entityId: name, message: { key, values: {} } }));
  }),
  logged(exportFinished, ({ jobId, definitionName, status, rowCount }) => {
    const counted = rowCount === null ? 'exchange.export-completed-uncounted' : 'exchange.export-completed';
    const key = status === 'Completed' ? counted : 'exchange.export-failed';
    const message = { key, values: { definitionName, rowCount: rowCount ?? 0 } };
    return [{ entityType: 'ExportJob', entityId: jobId, message }];
  }),
  logged(importFinished, ({ jobId, status, ...values }) => [
    { entityType: 'ImportJob', entityId: jobId, message: { key: importKeys[status], values } },
  ]),
  logged(importUndone, ({ jobId, status, ...values }) => [
    { entityType: 'ImportJob', entityId: jobId, message: { key: undoKeys[status], values } },
  ]),
  ...allEvents.filter(isEntityNoted).map((noted) =>
    logged(noted, ({ entityType, entityIds, texts }) =>
      entityIds.map((entityId) => ({
        entityType,
        entityId,
        message: { key: 'entity.noted', values: texts },
      })),
    ),
  ),
];

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

/** Turns a fact into system logs of the entities it concerns, by whom it names, dated by when it happened. */
const logged = <E extends EventType>(
  type: E,
  say: (payload: PayloadOf<E>) => Observation[],
  actorOf: (payload: PayloadOf<E>) => string | undefined = () => undefined,
): Subscription<Tx> =>
  subscription(type, async (tx: Tx, event: EventEnvelope<PayloadOf<E>>) => {
    const actorId = actorOf(event.payload) ?? event.actorId ?? SYSTEM;
    const actorName = await nameOf(tx, event, actorId);
    const at = new Date(event.occurredAt);
    await observe(tx, event.tenantId, say(event.payload), { actorId, actorName, at });
  });

async function nameOf(tx: Tx, event: EventEnvelope, userId: string): Promise<string> {
  if (event.actorName !== null && event.actorId === userId) return event.actorName;
  const key = { tenantId: event.tenantId, userId };
  const person = await tx.person.findUnique({ where: { tenantId_userId: key } });
  return person?.displayName ?? userId;
}
