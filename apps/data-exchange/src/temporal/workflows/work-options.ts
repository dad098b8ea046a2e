import type { ActivityOptions } from '@temporalio/workflow';

/** The options of the activities of a job: they last as long as its rows, and retry while a service is unavailable. */
export const workOptions = (tenantId: string): ActivityOptions => ({
  startToCloseTimeout: '7 days',
  // A worker that crashed is detected by missing heartbeats; its work is continued within five seconds.
  heartbeatTimeout: '4 seconds',
  // A crash is retried at once; what fails again waits for about as long as a service needs to start.
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 4, maximumInterval: '10 seconds' },
  // Where the server supports it, tenants share workers fairly, whatever the number of their jobs.
  priority: { fairnessKey: tenantId },
});
