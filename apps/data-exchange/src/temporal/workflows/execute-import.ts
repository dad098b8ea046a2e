import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { reasonOf } from './reason';

const { runImport, failImport } = proxyActivities<Activities>({
  // An import lasts as long as its file; a worker that died is noticed by its silence.
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/** Imports a mapped upload. Every repetition goes on after the last batch that is committed and counted. */
export async function executeImport(tenantId: string, jobId: string): Promise<void> {
  try {
    await runImport(tenantId, jobId);
  } catch (error) {
    await failImport(tenantId, jobId, reasonOf(error));
  }
}
