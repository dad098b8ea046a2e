import { silentLog } from '../process/log';
import { startOutboxRelay } from './outbox';

describe('the relay of an outbox', () => {
  it.each([
    [
      'touches nothing before the process has ever been connected to NATS',
      new Promise<void>(() => undefined),
      0,
    ],
    ['looks for events from then on', undefined, 1],
  ])('%s', async (_name, connecting, transactions) => {
    const inPlatform = jest.fn().mockResolvedValue(0);
    const relay = startOutboxRelay({ inPlatform } as never, { connecting } as never, silentLog());
    await relay.close();
    expect(inPlatform).toHaveBeenCalledTimes(transactions);
  });
});
