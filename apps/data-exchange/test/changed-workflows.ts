import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../src/temporal/activities';

const { importAtOnce, failImport } = proxyActivities<Activities>({ startToCloseTimeout: '7 days' });

/** A version of `executeImport` that must not be released: it first does something else. */
export async function executeImport(tenantId: string, jobId: string): Promise<void> {
  await failImport(tenantId, jobId, 'It was changed.');
  await importAtOnce(tenantId, jobId);
}
