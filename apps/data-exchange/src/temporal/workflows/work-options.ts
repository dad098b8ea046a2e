import type { ActivityOptions } from '@temporalio/workflow';

/** How the work of a job is done: for as long as its rows take, again and again while something is away. */
export const workOptions = (tenantId: string): ActivityOptions => ({
  startToCloseTimeout: '7 days',
  // A worker that died is noticed by its silence.
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  // Where the server knows how, tenants get their turns before jobs do.
  priority: { fairnessKey: tenantId },
});
