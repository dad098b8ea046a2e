import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities';

const { takeDueSteps } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * A timer of one request for approval: begins when a reminder, an escalation or the expiry is due, has the service
 * process it, and sleeps until the next where that comes soon. The truth is in the service's database; this workflow only
 * makes it punctual, and is terminated when somebody decides.
 */
export async function awaitApproval(tenantId: string, approvalId: string): Promise<void> {
  for (;;) {
    const waitMilliseconds = await takeDueSteps(tenantId, approvalId);
    if (waitMilliseconds === null) return;
    await sleep(waitMilliseconds);
  }
}
