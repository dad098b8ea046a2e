import { permissions } from '@plinth/contracts/permissions';
import { systemClock, type Clock } from '@plinth/kernel/clock';
import { createMetrics, Health } from '@plinth/runtime/health';
import { consumeEvents } from '@plinth/runtime/inbox';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { connectMessaging } from '@plinth/runtime/nats';
import { startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool, tenantDatabase } from '@plinth/runtime/postgres';
import { createTemporal } from '@plinth/runtime/temporal';
import { PrismaPg } from '@prisma/adapter-pg';
import type { WorkflowConfig } from './config';
import { subscriptionsTo } from './events/subscriptions';
import { PrismaClient, type Prisma } from './generated/client';
import { entityOwners } from './grpc/entity-owners';
import { Machine } from './machines/machine';
import { TimedSteps } from './machines/timed-steps';
import { approvalStore } from './store/approval-store';
import { definitionStore } from './store/definition-store';
import { delegationStore } from './store/delegation-store';
import { entityStore } from './store/entity-store';
import { historyStore } from './store/history-store';
import { temporalTimers } from './temporal/client';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(
  config: WorkflowConfig,
  log: Log,
  onClose: (close: Close) => void,
  clock: Clock = systemClock,
) {
  const pool = createPool(config.DATABASE_URL_WORKFLOW, log);
  onClose(() => pool.end());
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  onClose(() => prisma.$disconnect());
  const db = tenantDatabase<Prisma.TransactionClient>(prisma);

  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  const outbox = startOutboxRelay(db, messaging, log);
  onClose(outbox.close);
  const temporal = createTemporal(config);
  onClose(temporal.close);

  const owners = entityOwners(config, onClose);
  const definitions = definitionStore(db, outbox);
  const entities = entityStore(pool, db, outbox);
  const approvals = approvalStore(db, outbox);
  const timers = temporalTimers(temporal, config.WORKFLOW_TASK_QUEUE, log);
  const machine = new Machine({ entities, owners, timers, clock });
  const timedSteps = new TimedSteps({ approvals, machine, clock, log });

  const ownerAreas = [...new Set(Object.values(config.WORKFLOW_ENTITY_OWNERS))];
  const consume = () =>
    consumeEvents('workflow', subscriptionsTo(ownerAreas), db, messaging, log, { onApplied: outbox.wake });

  const health = new Health({ postgres: () => pool.query('SELECT 1'), nats: messaging.check });
  return {
    config,
    log,
    clock,
    pool,
    db,
    health,
    metrics: createMetrics('workflow'),
    consume,
    temporal,
    owners,
    definitions,
    entities,
    approvals,
    delegations: delegationStore(db),
    history: historyStore(db),
    machine,
    timedSteps,
    knownPermissions: [...permissions, ...config.WORKFLOW_EXTRA_PERMISSIONS],
  };
}
