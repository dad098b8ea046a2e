import type { Temporal } from '@plinth/runtime/temporal/temporal';

const ACTIVITIES = 2;
const WORKERS_MAX = 16;

/** How many worker processes poll this task queue; one where that cannot be read. */
export async function countWorkers(
  temporal: Temporal,
  { TEMPORAL_NAMESPACE, EXCHANGE_TASK_QUEUE }: { TEMPORAL_NAMESPACE: string; EXCHANGE_TASK_QUEUE: string },
): Promise<number> {
  try {
    const { workflowService } = await temporal.client();
    const { pollers } = await workflowService.describeTaskQueue({
      namespace: TEMPORAL_NAMESPACE,
      taskQueue: { name: EXCHANGE_TASK_QUEUE },
      taskQueueType: ACTIVITIES,
    });
    const identities = new Set(pollers.map(({ identity }) => identity));
    return Math.min(WORKERS_MAX, Math.max(1, identities.size));
  } catch {
    return 1;
  }
}
