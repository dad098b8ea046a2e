import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { ImportAnswer } from '@plinth/proto/generated/plinth/exchange/v1/ImportAnswer';
import type { ImportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportRequest';
import type { ImportSession } from './import-session';
import { receiveBatches } from './receive-batches';

describe('receiveBatches', () => {
  it('fails when the last batch does, though its sender waits for the answer and sends nothing more', async () => {
    const batch = { number: 1, rows: Buffer.from('[]'), duplicates: Buffer.from('') };
    const messages = (async function* () {
      yield { batch } as ImportRequest__Output;
      await new Promise(() => undefined);
    })();
    const session = {
      prepare: () => ({}),
      apply: () => Promise.reject(new Error('a lost connection')),
    } as unknown as ImportSession;
    const call = { cancelled: false } as ServerDuplexStream<ImportRequest__Output, ImportAnswer>;

    await expect(receiveBatches(call, messages, session)).rejects.toThrow('a lost connection');
  });
});
