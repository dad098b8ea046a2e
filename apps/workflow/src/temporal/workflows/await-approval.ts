import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities';

const { takeDueSteps } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

export const approvalEnded = defineSignal('approvalEnded');

/**
 * The timers of one request for approval: wakes when a reminder, an escalation or the expiry is due, has the service
 * process it, and sleeps again. The truth is in the service's database; this workflow only makes it punctual.
 */
export async function awaitApproval(tenantId: string, approvalId: string): Promise<void> {
  let isEnded = false;
  setHandler(approvalEnded, () => {
    isEnded = true;
  });

  while (!isEnded) {
    const waitMilliseconds = await takeDueSteps(tenantId, approvalId);
    if (waitMilliseconds === null) return;
    await condition(() => isEnded, waitMilliseconds);
  }
}
