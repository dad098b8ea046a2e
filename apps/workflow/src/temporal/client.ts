import { shareUsedUp } from '@plinth/contracts/platform/problems';
import type { Clock } from '@plinth/kernel/clock';
import { FairPlaces } from '@plinth/runtime/process/fair-places';
import type { Log } from '@plinth/runtime/process/log';
import type { Temporal } from '@plinth/runtime/temporal/temporal';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { ApprovalSchedule } from '../app/approval-schedule';
import { timerOf } from '../domain/approval';

/** Timers that are started or ended at the same time; tenants take turns. */
const ATTEMPTS = 20;
/** Of those that wait, a tenant has half at most. Whatever is beyond is left to the background task. */
const WAITING_MAX = 1_000;
const PATIENCE_MILLISECONDS = 10_000;
/** How long an attempt waits for the server, behind which others wait. */
const ATTEMPT_MILLISECONDS_MAX = 3_000;

/**
 * Timers in Temporal. They only make approvals punctual, so that no request waits for them and errors are only logged.
 * There are timers of steps that come soon only, since most approvals are decided long before, and they begin when the
 * step is due, so that no worker hears of those that are decided meanwhile.
 */
export function temporalSchedule(
  temporal: Pick<Temporal, 'client'>,
  taskQueue: string,
  clock: Clock,
  log: Pick<Log, 'warn'>,
): ApprovalSchedule {
  const places = new FairPlaces({
    places: ATTEMPTS,
    waitingMax: WAITING_MAX,
    patienceMilliseconds: PATIENCE_MILLISECONDS,
    refused: (scope) => shareUsedUp(scope, 'timers of approvals'),
  });
  const attempt = (tenantId: string, failureMessage: string, work: () => Promise<unknown>): Promise<void> =>
    places.run({ tenantId, userId: '' }, work).then(
      () => undefined,
      (error: unknown) => log.warn({ err: error }, failureMessage),
    );
  return {
    async start(tenantId, approval) {
      if (timerOf(approval, clock.now()) === null) return;
      await attempt(
        tenantId,
        'timer of an approval could not be started; the background task will process it late',
        async () => {
          const client = await temporal.client();
          await client.withDeadline(Date.now() + ATTEMPT_MILLISECONDS_MAX, () =>
            client.workflow.start('awaitApproval', {
              taskQueue,
              workflowId: workflowIdOf(approval.id),
              args: [tenantId, approval.id],
              // Less than when it was asked for, where it waited for others.
              startDelay: timerOf(approval, clock.now()) ?? 1,
              // Where the server supports it, tenants share workers fairly, whatever the number of their approvals.
              priority: { fairnessKey: tenantId },
              // Another process may have started it.
              workflowIdConflictPolicy: 'USE_EXISTING',
            }),
          );
        },
      );
    },
    async end(tenantId, approval) {
      if (timerOf(approval, clock.now()) === null) return;
      await attempt(
        tenantId,
        'timer of an approval could not be ended; it will find nothing to do',
        async () => {
          const client = await temporal.client();
          await client.withDeadline(Date.now() + ATTEMPT_MILLISECONDS_MAX, () =>
            client.workflow.getHandle(workflowIdOf(approval.id)).terminate('decided').catch(ignoreEnded),
          );
        },
      );
    },
  };
}

const workflowIdOf = (approvalId: string): string => `approval-${approvalId}`;

/** The workflow ended by itself, as after its last reminder. */
const ignoreEnded = (error: unknown): void => {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
};
