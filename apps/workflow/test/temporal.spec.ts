import { join } from 'node:path';
import { approvalReminded } from '@plinth/contracts/workflow/events';
import { newId } from '@plinth/kernel/uuid';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { infrastructure } from '@plinth/testing/infrastructure';
import { bundleWorkflows, type WorkflowBundle } from '@plinth/testing/workflow-bundle';
import { WorkflowNotFoundError } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { ApprovalTimers } from '../src/app/approval-timers';
import { createActivities } from '../src/temporal/activities';
import { temporalSchedule } from '../src/temporal/client';
import { startWorker } from '../src/temporal/run-worker';
import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';
import { publishedEvents } from './read-published-events';

const quiet = new DefaultLogger('ERROR');

describe('timers of approvals in Temporal', () => {
  let service: Workflow;
  let workflowBundle: WorkflowBundle;
  let stopWorker: Close | undefined;

  beforeAll(async () => {
    Runtime.install({
      logger: quiet,
      telemetryOptions: { logging: { filter: 'temporalio_sdk_core=error' } },
    });
    workflowBundle = await bundleWorkflows(join(__dirname, '../src/temporal/workflows/index.ts'));
    // The background task does not run here: all timers are Temporal's.
    service = await startWorkflow({
      environment: {
        TEMPORAL_ADDRESS: infrastructure().temporalAddress,
        WORKFLOW_TASK_QUEUE: `workflow-${newId()}`,
      },
    });
    // What starts a timer does not wait for long; here nothing starts those later that were not started.
    await eventually(() => service.temporal.client());
  });
  afterAll(async () => {
    await stopWorker?.();
    await service.close();
  });

  const startOne = () =>
    startWorker({
      config: service.config,
      log: silentLog(),
      workflowBundle,
      activities: createActivities(service),
    });

  const stateOf = async ({ options, user }: Awaited<ReturnType<typeof aTenantWithOrders>>, id: string) =>
    (await options(user('ann'), id)).currentState;

  it('expire an approval that was requested before the worker started', async () => {
    const tenant = await aTenantWithOrders(service, undefined, { expireAfterSeconds: 1 });
    await tenant.move(tenant.user('ann'), '1', 'Approved');

    stopWorker = startOne();

    await eventually(async () => (await stateOf(tenant, '1')) === 'Draft');
  });

  it('remind the approvers and leave the approval open', async () => {
    const tenant = await aTenantWithOrders(service, undefined, { remindAfterSeconds: 1 });
    await tenant.move(tenant.user('ann'), '1', 'Approved');

    const reminders = () => publishedEvents(service, tenant.tenantId, approvalReminded);
    await eventually(async () => (await reminders()).length === 1);
    expect(await stateOf(tenant, '1')).toBe('PendingApproval');
  });

  it('start for what comes soon, and not before, and tenants share workers', async () => {
    const { tenantId, user, move, openApprovals } = await aTenantWithOrders(service, undefined, {
      expireAfterSeconds: 3_600,
    });
    await move(user('ann'), '1', 'Approved');
    const [request] = (await openApprovals(user('bob', APPROVER))) as unknown as { id: string }[];
    const { workflow } = await service.temporal.client();
    const timer = workflow.getHandle(`approval-${request!.id}`);
    const clock = { now: () => new Date(Date.now() + passed * 1_000) };
    let passed = 0;
    const schedule = temporalSchedule(
      service.temporal,
      service.config.WORKFLOW_TASK_QUEUE,
      clock,
      silentLog(),
    );
    const timers = new ApprovalTimers({ ...service, schedule, clock });

    await timers.startTimers();
    await expect(timer.describe()).rejects.toThrow(WorkflowNotFoundError);
    passed = 3_500;
    await timers.startTimers();

    await eventually(async () => {
      const { status } = await timer.describe().catch(() => ({ status: undefined }));
      return status?.name === 'RUNNING';
    });
    expect((await timer.describe()).priority).toMatchObject({ fairnessKey: tenantId });
  });

  it('end together with their approval', async () => {
    const { user, move, openApprovals } = await aTenantWithOrders(service, undefined, {
      expireAfterSeconds: 60,
    });
    await move(user('ann'), '1', 'Approved');
    const [request] = (await openApprovals(user('bob', APPROVER))) as unknown as { id: string }[];
    const { workflow } = await service.temporal.client();
    const statusOf = async () => (await workflow.getHandle(`approval-${request!.id}`).describe()).status.name;
    await eventually(async () => (await statusOf()) === 'RUNNING');

    await move(user('bob', APPROVER), '1', 'Approved');

    await eventually(async () => (await statusOf()) === 'TERMINATED');
  });
});
