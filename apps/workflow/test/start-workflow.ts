import type { Clock } from '@plinth/kernel/clock';
import { startReplica, type ReplicaOptions } from '@plinth/testing/start-replica';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { WorkflowConfig } from '../src/config';

/** Starts one replica of the service on real stores; close it when done. */
export const startWorkflow = ({ clock, ...options }: ReplicaOptions & { clock?: Clock } = {}) =>
  startReplica(
    {
      name: 'workflow',
      schema: WorkflowConfig,
      compose: (config, log, onClose) => compose(config, log, onClose, clock),
      createApp,
    },
    {
      ...options,
      // There is no server: timers are the background task's where a test does not set another address.
      environment: { TEMPORAL_ADDRESS: '127.0.0.1:1', ...options.environment },
    },
  );

/** Starts two replicas on the same stores: no decision may depend on the memory of one process. */
export async function startTwoWorkflows() {
  const first = await startWorkflow();
  const second = await startWorkflow({ databaseUrl: first.databaseUrl });
  const close = async () => {
    await second.close();
    await first.close();
  };
  return { first, second, close };
}

export type Workflow = Awaited<ReturnType<typeof startWorkflow>>;
