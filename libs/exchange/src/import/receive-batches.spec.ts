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

    const received = receiveBatches({ cancelled: false } as Call, messages, session, true);

    await expect(received).rejects.toThrow('The disk is full.');
  });

  describe('with more errors than one message is for', () => {
    const errors = Array.from({ length: 4_000 }, (_, index) => ({
      rowNumber: index + 2,
      kind: 'Conversion',
      column: 'price',
      value: 'a word that is no value '.repeat(20),
      code: 'Service:Conversion:Number',
      message: 'Price must be a number.',
    }));
    const resultsFor = async (acceptsParts: boolean) => {
      const sent: ImportAnswer[] = [];
      const call = { cancelled: false, write: (message: ImportAnswer) => sent.push(message) > 0 };
      const session = {
        lastBatch: 0,
        prepare: async () => ({}),
        apply: async () => ({ inserted: 1, updated: 0, skipped: 0, failed: 4_000, errors }),
      } as unknown as ImportSession;
      async function* messages() {
        yield batch as ImportRequest__Output;
      }
      await receiveBatches(call as unknown as Call, messages(), session, acceptsParts);
      return sent.map(({ result }) => ({
        ...result,
        rows: JSON.parse(String(result!.failures)) as { rowNumber: number }[],
        bytes: result!.failures!.length,
      }));
    };
    const rowNumbers = errors.map(({ rowNumber }) => rowNumber);

    it('have their result in parts, the counts in the last one', async () => {
      const parts = await resultsFor(true);

      expect(parts.length).toBeGreaterThan(2);
      expect(Math.max(...parts.map(({ bytes }) => bytes))).toBeLessThan(1_100_000);
      expect(parts.flatMap(({ rows }) => rows.map(({ rowNumber }) => rowNumber))).toEqual(rowNumbers);
      expect(parts.map(({ inserted }) => inserted)).toEqual([...parts.slice(1).map(() => undefined), 1]);
      expect(parts.map(({ moreFollows }) => moreFollows)).toEqual([
        ...parts.slice(1).map(() => true),
        undefined,
      ]);
    });

    it('have it whole for a sender that knows no parts', async () => {
      const results = await resultsFor(false);

      expect(results.map(({ rows }) => rows.length)).toEqual([4_000]);
    });
  });
});
