import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/process/log';
import { runTemporalWorker } from '@plinth/runtime/temporal/temporal-worker';
import { infrastructure } from '@plinth/testing/infrastructure';

describe('a worker that stops', () => {
  it('waits for an activity that does not end for a while only, and another one tries it again', async () => {
    const address = infrastructure().temporalAddress;
    const taskQueue = newId();
    const connection = await Connection.connect({ address });
    const { workflow } = new Client({ connection });
    const workflowBundle = await bundleWorkflowCode({ workflowsPath: require.resolve('./calling-workflow') });
    const start = (work: () => Promise<string>) =>
      runTemporalWorker({
        config: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' },
        taskQueue,
        deployment: { name: `deployment-${taskQueue}`, behavior: 'PINNED' },
        workflowBundle,
        activities: { work },
        shutdownGraceTime: '10 milliseconds',
        shutdownForceTime: '200 milliseconds',
        log: silentLog(),
      });
    const begun = Promise.withResolvers<void>();
    const stop = start(() => {
      begun.resolve();
      return new Promise(() => undefined);
    });
    const handle = await workflow.start('calling', { taskQueue, workflowId: newId() });
    await begun.promise;

    await stop();

    const stopOther = start(async () => 'done by another');
    expect(await handle.result()).toBe('done by another');
    await stopOther();
    await connection.close();
  });
});
