import type { Log } from '@plinth/runtime/log';
import type { Temporal } from '@plinth/runtime/temporal';
import { nextStepAt, type Approval } from '../domain/approval';

/** Keeps the time of requests for approval. Without Temporal the sweeper does the same a little later. */
export interface ApprovalTimers {
  start(tenantId: string, approval: Approval): void;
  end(approvalId: string): void;
}

/** Timers in Temporal. They are a convenience, so that nobody waits for them and a failure is only logged. */
export function temporalTimers(temporal: Temporal, taskQueue: string, log: Log): ApprovalTimers {
  const attempt = (what: string, work: () => Promise<unknown>): void => {
    work().catch((error: unknown) => log.warn({ err: error }, `${what}; the sweeper will do it late`));
  };
  return {
    start(tenantId, approval) {
      if (nextStepAt(approval) === null) return;
      attempt('a timer of an approval could not be started', async () => {
        const { workflow } = await temporal.client();
        await workflow.start('awaitApproval', {
          taskQueue,
          workflowId: workflowIdOf(approval.id),
          args: [tenantId, approval.id],
        });
      });
    },
    end(approvalId) {
      attempt('a timer of an approval could not be ended', async () => {
        const { workflow } = await temporal.client();
        await workflow.getHandle(workflowIdOf(approvalId)).signal('approvalEnded');
      });
    },
  };
}

const workflowIdOf = (approvalId: string): string => `approval-${approvalId}`;
