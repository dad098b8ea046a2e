import type { Log } from '@plinth/runtime/process/log';
import type { Temporal } from '@plinth/runtime/temporal/temporal';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { ApprovalSchedule } from '../app/approval-schedule';
import { hasTimers } from '../domain/approval';

/** Timers in Temporal. They only make approvals punctual, so that no request waits for them and errors are only logged. */
export function temporalSchedule(temporal: Temporal, taskQueue: string, log: Log): ApprovalSchedule {
  const attempt = (failureMessage: string, work: () => Promise<unknown>): void => {
    work().catch((error: unknown) => log.warn({ err: error }, failureMessage));
  };
  return {
    start(tenantId, approval) {
      if (!hasTimers(approval)) return;
      attempt(
        'timer of an approval could not be started; the background task will process it late',
        async () => {
          const { workflow } = await temporal.client();
          await workflow.start('awaitApproval', {
            taskQueue,
            workflowId: workflowIdOf(approval.id),
            args: [tenantId, approval.id],
          });
        },
      );
    },
    end(approval) {
      if (!hasTimers(approval)) return;
      attempt('timer of an approval could not be ended; it will find nothing to do', async () => {
        const { workflow } = await temporal.client();
        await workflow.getHandle(workflowIdOf(approval.id)).signal('approvalEnded').catch(ignoreEnded);
      });
    },
  };
}

const workflowIdOf = (approvalId: string): string => `approval-${approvalId}`;

/** The workflow ended by itself, as after an expiry. */
const ignoreEnded = (error: unknown): void => {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
};
