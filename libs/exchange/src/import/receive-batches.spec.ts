import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { ImportAnswer } from '@plinth/proto/generated/plinth/exchange/v1/ImportAnswer';
import type { ImportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportRequest';
import type { ImportSession } from './import-session';
import { receiveBatches } from './receive-batches';

type Call = ServerDuplexStream<ImportRequest__Output, ImportAnswer>;

const batch = { batch: { number: 1, rows: Buffer.from('[]'), duplicates: Buffer.alloc(0) } };

describe('the batches of a call', () => {
  it('end with the one that failed, also where the client waits for its result and sends nothing more', async () => {
    const messages = {
      next: jest
        .fn()
        .mockResolvedValueOnce({ value: batch, done: false })
        .mockReturnValue(new Promise(() => undefined)),
    };
    const session = {
      lastBatch: 0,
      prepare: () => ({}),
      apply: () => Promise.reject(new Error('The disk is full.')),
    } as unknown as ImportSession;

    const received = receiveBatches({ cancelled: false } as Call, messages, session);

    await expect(received).rejects.toThrow('The disk is full.');
  });
});
