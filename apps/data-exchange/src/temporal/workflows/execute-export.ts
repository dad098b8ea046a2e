import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { reasonOf } from './reason';
import { workOptions } from './work-options';

/** Writes the file of an export. A retry starts over; a file is stored completely or not at all. */
export async function executeExport(tenantId: string, jobId: string): Promise<void> {
  const { runExport, failExport } = proxyActivities<Activities>(workOptions(tenantId));
  try {
    await runExport(tenantId, jobId);
  } catch (error) {
    await failExport(tenantId, jobId, reasonOf(error));
  }
}
