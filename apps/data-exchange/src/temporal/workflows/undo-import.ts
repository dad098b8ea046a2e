import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { reasonOf } from './reason';
import { workOptions } from './work-options';

/** Undoes an import in turns, so that a large one leaves room for others. What is repeated changes nothing. */
export async function undoImport(tenantId: string, jobId: string): Promise<void> {
  const { undoImport: takeTurn, failUndo } = proxyActivities<Activities>(workOptions(tenantId));
  try {
    while (!(await takeTurn(tenantId, jobId)));
  } catch (error) {
    await failUndo(tenantId, jobId, reasonOf(error));
  }
}
