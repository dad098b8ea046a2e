import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { startNatsWithUsers } from '@plinth/testing/nats-with-users';
import { startTimeline } from './start-timeline';

const closers: Close[] = [];
afterEach(() => closeAll(closers.splice(0), silentLog()));

describe('the timeline service as its user at NATS', () => {
  it('receives every event that it subscribes to, and may read no other', async () => {
    const server = await startNatsWithUsers();
    closers.push(server.stop);
    const { NATS_URL, NATS_USER, NATS_PASSWORD } = server.configOf('timeline');
    const environment = { NATS_URL, NATS_USER: NATS_USER!, NATS_PASSWORD: NATS_PASSWORD! };
    const timeline = await startTimeline({ natsPrefix: 'plinth', environment });
    closers.push(timeline.close);

    const received = await server.receivedBy('timeline');

    expect(received).not.toEqual([]);
    expect(received).toEqual(server.readableBy('timeline'));
  });
});
