import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities';

const { takeDueSteps } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

export const approvalEnded = defineSignal('approvalEnded');

/**
 * Keeps the time of one request for approval: it wakes when a reminder, an escalation or the end is due, lets the
 * service do what is due, and sleeps again. What stands is in the service's database; this only makes it punctual.
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
