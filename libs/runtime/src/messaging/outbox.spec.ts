import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { z } from 'zod';
import type { RawStatements } from '../postgres/postgres';
import { silentLog } from '../process/log';
import { appendToOutbox, PAYLOAD_BYTES_MAX, startOutboxRelay } from './outbox';

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

describe('an event that is larger than NATS takes', () => {
  const noted = eventType('tests.noted', z.object({ text: z.string() }));
  const noting = (text: string) => ({ type: noted, tenantId: newId(), subject: 'x', payload: { text } });
  const small = noting('é');
  const large = noting('é'.repeat(PAYLOAD_BYTES_MAX / 2));

  it.each([[[large]], [[small, large]]])(
    'is refused with its transaction, since it would keep all behind it from being published',
    async (events) => {
      const $executeRawUnsafe = jest.fn().mockResolvedValue(1);
      const tx = { $executeRawUnsafe } as unknown as RawStatements;
      await expect(appendToOutbox(tx, ...events)).rejects.toThrow(RangeError);
      expect($executeRawUnsafe).not.toHaveBeenCalled();

      await appendToOutbox(tx, ...Array.from({ length: 3 }, () => noting('x'.repeat(PAYLOAD_BYTES_MAX / 2))));
      expect($executeRawUnsafe).toHaveBeenCalledTimes(1);
    },
  );
});
