import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { startNatsWithUsers } from '@plinth/testing/nats-with-users';
import { startWorkflow } from './start-workflow';

const closers: Close[] = [];
afterEach(() => closeAll(closers.splice(0), silentLog()));

describe('the workflow service as its user at NATS', () => {
  it('receives every event that it subscribes to, and may read no other', async () => {
    const server = await startNatsWithUsers();
    closers.push(server.stop);
    const { NATS_URL, NATS_USER, NATS_PASSWORD } = server.configOf('workflow');
    const environment = { NATS_URL, NATS_USER: NATS_USER!, NATS_PASSWORD: NATS_PASSWORD! };
    const workflow = await startWorkflow({ natsPrefix: 'plinth', environment });
    closers.push(workflow.close);
    closers.push(await workflow.consume());
    const received = await server.receivedBy('workflow');

    expect(received).not.toEqual([]);
    expect(received).toEqual(server.readableBy('workflow'));
  });
});
