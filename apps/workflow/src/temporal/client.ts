import type { Clock } from '@plinth/kernel/clock';
import type { Log } from '@plinth/runtime/process/log';
import type { Temporal } from '@plinth/runtime/temporal/temporal';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { ApprovalSchedule } from '../app/approval-schedule';
import { timerOf } from '../domain/approval';

/**
 * Timers in Temporal. They only make approvals punctual, so that no request waits for them and errors are only logged.
 * There are timers of steps that come soon only, since most approvals are decided long before, and they begin when the
 * step is due, so that no worker hears of those that are decided meanwhile.
 */
export function temporalSchedule(
  temporal: Temporal,
  taskQueue: string,
  clock: Clock,
  log: Log,
): ApprovalSchedule {
  const attempt = (failureMessage: string, work: () => Promise<unknown>): void => {
    work().catch((error: unknown) => log.warn({ err: error }, failureMessage));
  };
  return {
    start(tenantId, approval) {
      const startDelay = timerOf(approval, clock.now());
      if (startDelay === null) return;
      attempt(
        'timer of an approval could not be started; the background task will process it late',
        async () => {
          const { workflow } = await temporal.client();
          await workflow.start('awaitApproval', {
            taskQueue,
            workflowId: workflowIdOf(approval.id),
            args: [tenantId, approval.id],
            startDelay,
            // Where the server supports it, tenants share workers fairly, whatever the number of their approvals.
            priority: { fairnessKey: tenantId },
            // Another process may have started it.
            workflowIdConflictPolicy: 'USE_EXISTING',
          });
        },
      );
    },
    end(approval) {
      if (timerOf(approval, clock.now()) === null) return;
      attempt('timer of an approval could not be ended; it will find nothing to do', async () => {
        const { workflow } = await temporal.client();
        await workflow.getHandle(workflowIdOf(approval.id)).terminate('decided').catch(ignoreEnded);
      });
    },
  };
}

const workflowIdOf = (approvalId: string): string => `approval-${approvalId}`;

/** The workflow ended by itself, as after its last reminder. */
const ignoreEnded = (error: unknown): void => {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
};
