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

export type Workflow = Awaited<ReturnType<typeof startWorkflow>>;

/** Has two replicas on the same stores for the tests of a block: no decision may depend on the memory of one process. */
export function withTwoWorkflows(): { first: Workflow; second: Workflow } {
  const workflows = {} as { first: Workflow; second: Workflow };
  beforeAll(async () => {
    workflows.first = await startWorkflow();
    workflows.second = await startWorkflow({ databaseUrl: workflows.first.databaseUrl });
  });
  afterAll(async () => {
    await workflows.second.close();
    await workflows.first.close();
  });
  return workflows;
}
