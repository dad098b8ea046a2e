import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { reasonOf } from './reason';

const { runExport, failExport } = proxyActivities<Activities>({
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/** Writes the file of an export. A repetition starts over; a file is there whole or not at all. */
export async function executeExport(tenantId: string, jobId: string): Promise<void> {
  try {
    await runExport(tenantId, jobId);
  } catch (error) {
    await failExport(tenantId, jobId, reasonOf(error));
  }
}
