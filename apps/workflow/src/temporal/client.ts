import type { Log } from '@plinth/runtime/log';
import type { Temporal } from '@plinth/runtime/temporal';
import { WorkflowNotFoundError } from '@temporalio/client';
import { hasTimers, type Approval } from '../domain/approval';

/** Keeps the time of requests for approval. Without Temporal the sweeper does the same a little later. */
export interface ApprovalTimers {
  start(tenantId: string, approval: Approval): void;
  end(approval: Approval): void;
}

/** Timers in Temporal. They are a convenience, so that nobody waits for them and a failure is only logged. */
export function temporalTimers(temporal: Temporal, taskQueue: string, log: Log): ApprovalTimers {
  const attempt = (what: string, work: () => Promise<unknown>): void => {
    work().catch((error: unknown) => log.warn({ err: error }, `${what}; the sweeper will do it late`));
  };
  return {
    start(tenantId, approval) {
      if (!hasTimers(approval)) return;
      attempt('a timer of an approval could not be started', async () => {
        const { workflow } = await temporal.client();
        await workflow.start('awaitApproval', {
          taskQueue,
          workflowId: workflowIdOf(approval.id),
          args: [tenantId, approval.id],
        });
      });
    },
    end(approval) {
      if (!hasTimers(approval)) return;
      attempt('a timer of an approval could not be ended', async () => {
        const { workflow } = await temporal.client();
        await workflow.getHandle(workflowIdOf(approval.id)).signal('approvalEnded').catch(ignoreOver);
      });
    },
  };
}

const workflowIdOf = (approvalId: string): string => `approval-${approvalId}`;

/** It ended by itself, as when time was what ended the request. */
const ignoreOver = (error: unknown): void => {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
};
