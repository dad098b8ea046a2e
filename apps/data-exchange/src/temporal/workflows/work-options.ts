import type { ActivityOptions } from '@temporalio/workflow';

/** The options of the activities of a job: they last as long as its rows, and retry while a service is unavailable. */
export const workOptions = (tenantId: string): ActivityOptions => ({
  startToCloseTimeout: '7 days',
  // A worker that crashed is detected by missing heartbeats.
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  // Where the server supports it, tenants share workers fairly, whatever the number of their jobs.
  priority: { fairnessKey: tenantId },
});
