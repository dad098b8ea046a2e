import { permissions } from '@plinth/contracts/permissions';
import { TENANT_DELEGATIONS_MAX } from '@plinth/contracts/workflow/shapes';
import { BATCH_ITEMS } from '@plinth/http/batch';
import { longReadPlaces } from '@plinth/http/long-reads';
import { PAGE_READS } from '@plinth/http/read-page';
import { RowQuota } from '@plinth/http/row-quota';
import { systemClock, type Clock } from '@plinth/kernel/clock';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import { measurePlaces, turnsAt } from '@plinth/runtime/process/fair-places';
import { eventConsumer } from '@plinth/runtime/messaging/consumer';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { openServiceStore } from '@plinth/runtime/postgres/open-service-store';
import { createTemporal } from '@plinth/runtime/temporal/temporal';
import { ApprovalTimers } from './app/approval-timers';
import { TransitionService } from './app/transition-service';
import { Verifications } from './app/verifications';
import type { WorkflowConfig } from './config';
import { subscriptions } from './events/subscriptions';
import { PrismaClient, type Prisma } from './generated/client';
import { migrations } from './generated/migrations';
import { entityOwners } from './grpc/entity-owners';
import { approverQuotaOf } from './store/approver-quota';
import { approvalStore } from './store/approval-store';
import { commentQuotaOf } from './store/comment-quota';
import { historyQuotaOf } from './store/history-quota';
import { definitionStore } from './store/definition-store';
import { delegationStore } from './store/delegation-store';
import { entityStore } from './store/entity-store';
import { historyStore } from './store/history-store';
import { temporalSchedule } from './temporal/client';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(
  config: WorkflowConfig,
  log: Log,
  onClose: (close: Close) => void,
  clock: Clock = systemClock,
) {
  const metrics = createMetrics('workflow');
  const { pool, bulkPool, db, messaging, outbox, checks, informative } =
    await openServiceStore<Prisma.TransactionClient>({
      url: config.DATABASE_URL_WORKFLOW,
      createClient: (adapter) => new PrismaClient({ adapter }),
      migrations,
      config,
      log,
      metrics,
      onClose,
    });

  const temporal = createTemporal(config);
  onClose(temporal.close);

  const owners = entityOwners(config, onClose, metrics);
  const definitionCountings = longReadPlaces('definitions that wait for all entities to be counted');
  const definitions = definitionStore(db, definitionCountings);
  const entities = entityStore(db);
  const approvals = approvalStore(db);
  const schedule = temporalSchedule(temporal, config.WORKFLOW_TASK_QUEUE, clock, log);
  const pageReads = turnsAt(PAGE_READS);
  const [batchItems, ownedBatchItems] = [turnsAt(BATCH_ITEMS), turnsAt(BATCH_ITEMS)];
  measurePlaces(metrics, {
    'page-reads': pageReads,
    'batch-items': batchItems,
    'owned-batch-items': ownedBatchItems,
    'definition-countings': definitionCountings,
  });
  const quota = historyQuotaOf({ db, log, metrics, limit: config.WORKFLOW_TENANT_MOVES_MAX });
  const commentQuota = commentQuotaOf({
    db,
    log,
    metrics,
    limit: config.WORKFLOW_TENANT_LONG_COMMENT_BYTES_MAX,
  });
  const approverQuota = approverQuotaOf({ db, log, metrics, limit: config.WORKFLOW_TENANT_APPROVERS_MAX });
  const delegationQuota = new RowQuota({
    db,
    log,
    metrics,
    table: 'delegation',
    quota: 'tenant-delegations',
    what: 'delegations',
    limit: TENANT_DELEGATIONS_MAX,
  });
  const transitions = new TransitionService({
    entities,
    approvals,
    owners,
    schedule,
    clock,
    quota,
    commentQuota,
    approverQuota,
  });
  const approvalTimers = new ApprovalTimers({ approvals, schedule, transitions, clock, log });
  const verifications = new Verifications({ approvals, transitions, clock, log });

  const ownerServices = [...new Set(Object.values(config.WORKFLOW_ENTITY_OWNERS))];
  const consumer = eventConsumer('workflow', subscriptions(ownerServices), db, messaging, log);

  const health = new Health(checks, { informative, log });
  return {
    config,
    log,
    clock,
    pool,
    bulkPool,
    outbox,
    db,
    checks,
    health,
    metrics,
    consume: consumer.start,
    deadLetters: consumer.deadLetters,
    temporal,
    owners,
    definitions,
    definitionCountings,
    entities,
    approvals,
    pageReads,
    batchItems,
    ownedBatchItems,
    delegations: delegationStore(db, delegationQuota),
    history: historyStore(db),
    transitions,
    approvalTimers,
    verifications,
    knownPermissions: [...permissions, ...config.WORKFLOW_EXTRA_PERMISSIONS],
  };
}
