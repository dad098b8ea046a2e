import { join } from 'node:path';
import { approvalReminded } from '@plinth/contracts/workflow/events';
import { newId } from '@plinth/kernel/uuid';
import type { Close } from '@plinth/runtime/lifecycle';
import { silentLog } from '@plinth/runtime/log';
import { eventually } from '@plinth/testing/eventually';
import { infrastructure } from '@plinth/testing/infrastructure';
import { bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';
import { createActivities } from '../src/temporal/activities';
import { startWorker } from '../src/temporal/run-worker';
import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';
import { toldBy } from './told';

const quiet = new DefaultLogger('ERROR');

describe('the timers of approvals', () => {
  let service: Workflow;
  let workflowBundle: { code: string };
  let stopWorker: Close | undefined;

  beforeAll(async () => {
    Runtime.install({
      logger: quiet,
      telemetryOptions: { logging: { filter: 'temporalio_sdk_core=error' } },
    });
    workflowBundle = await bundleWorkflowCode({
      workflowsPath: join(__dirname, '../src/temporal/workflows/index.ts'),
      logger: quiet,
    });
    // The sweeper does not run here: whatever time does, Temporal does.
    service = await startWorkflow({
      environment: {
        TEMPORAL_ADDRESS: infrastructure().temporalAddress,
        WORKFLOW_TASK_QUEUE: `workflow-${newId()}`,
      },
    });
  }, 60_000);
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

  const stateOf = async ({ options, someone }: Awaited<ReturnType<typeof aTenantWithOrders>>, id: string) =>
    (await options(someone('ann'), id)).currentState;

  it('work off what was asked for before there was a worker', async () => {
    const tenant = await aTenantWithOrders(service, undefined, { expireAfterSeconds: 1 });
    await tenant.move(tenant.someone('ann'), '1', 'Approved');

    stopWorker = startOne();

    await eventually(async () => (await stateOf(tenant, '1')) === 'Draft', 20_000);
  });

  it('remind, and leave the decision to people', async () => {
    const tenant = await aTenantWithOrders(service, undefined, { remindAfterSeconds: 1 });
    await tenant.move(tenant.someone('ann'), '1', 'Approved');

    const reminders = () => toldBy(service, tenant.tenantId, approvalReminded);
    await eventually(async () => (await reminders()).length === 1, 20_000);
    expect(await stateOf(tenant, '1')).toBe('PendingApproval');
  });

  it('end with the request they were for', async () => {
    const { someone, move, inbox } = await aTenantWithOrders(service, undefined, {
      expireAfterSeconds: 3600,
    });
    await move(someone('ann'), '1', 'Approved');
    const [request] = (await inbox(someone('bob', APPROVER))) as unknown as { id: string }[];
    const { workflow } = await service.temporal.client();
    const statusOf = async () => (await workflow.getHandle(`approval-${request!.id}`).describe()).status.name;
    await eventually(async () => (await statusOf()) === 'RUNNING', 20_000);

    await move(someone('bob', APPROVER), '1', 'Approved');

    await eventually(async () => (await statusOf()) === 'COMPLETED', 20_000);
  });
});
