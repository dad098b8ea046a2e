import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { newId } from '@plinth/kernel/uuid';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { runTemporalWorker } from '@plinth/runtime/temporal/temporal-worker';
import { eventually } from '@plinth/testing/eventually';
import { infrastructure } from '@plinth/testing/infrastructure';

describe('workers with versions', () => {
  it('run a pinned workflow to its end by the one that began it, and new ones by the current one', async () => {
    const address = infrastructure().temporalAddress;
    const taskQueue = newId();
    const deployment = { name: `deployment-${taskQueue}`, behavior: 'PINNED' as const };
    const connection = await Connection.connect({ address });
    const client = new Client({ connection });
    const workflowBundle = await bundleWorkflowCode({
      workflowsPath: require.resolve('./versioned-workflow'),
    });
    const closers: Close[] = [];
    const start = (buildId: string) => {
      const config = {
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: 'default',
        TEMPORAL_WORKER_BUILD_ID: buildId,
      };
      closers.push(runTemporalWorker({ config, taskQueue, deployment, workflowBundle, log: silentLog() }));
      const version = { namespace: 'default', deploymentName: deployment.name, buildId };
      return eventually(() => connection.workflowService.setWorkerDeploymentCurrentVersion(version));
    };
    const begin = () => client.workflow.start('waiting', { taskQueue, workflowId: newId() });

    await start('1');
    const before = await begin();
    await eventually(async () => (await before.describe()).historyLength > 3);
    await start('2');
    const after = await begin();
    await Promise.all([before, after].map((workflow) => workflow.signal('finish')));

    expect(await Promise.all([before.result(), after.result()])).toEqual(['1', '2']);
    for (const close of closers) await close();
    await connection.close();
  });
});
