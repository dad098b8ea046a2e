import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { reasonOf } from './reason';
import { workOptions } from './work-options';

/** Undoes an import in slices of time, so that a large one leaves workers for others. A retry changes nothing twice. */
export async function undoImport(tenantId: string, jobId: string): Promise<void> {
  const { undoImport: undoSlice, failUndo } = proxyActivities<Activities>(workOptions(tenantId));
  try {
    while (!(await undoSlice(tenantId, jobId)));
  } catch (error) {
    await failUndo(tenantId, jobId, reasonOf(error));
  }
}
