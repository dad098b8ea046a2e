import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { ImportResponse } from '@plinth/proto/generated/plinth/exchange/v1/ImportResponse';
import type { ImportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportRequest';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import type { ImportSession } from './import-session';
import { groupByRow, type RowError } from '../row-error';
import { inTurnsOf } from '../in-turns';
import { receiveBatches } from './receive-batches';

type Call = ServerDuplexStream<ImportRequest__Output, ImportResponse>;

const inTurns = inTurnsOf(new EventLoopTurns(), { tenantId: 'acme', userId: 'ada' });
const batch = { batch: { number: 1, rows: Buffer.from('[]'), duplicates: Buffer.alloc(0) } };

/** What the work returns, and how many turns of the event loop others had meanwhile. */
async function countingTurns<Result>(work: () => Promise<Result>): Promise<[Result, turns: number]> {
  let turns = 0;
  const count = () => void (turns++, (next = setImmediate(count)));
  let next = setImmediate(count);
  const result = await work();
  clearImmediate(next);
  return [result, turns];
}

describe('the batches of a call', () => {
  describe.each([
    ['on lines of their own, in many turns of the event loop', ',\n', 10],
    ['on one line, as versions before sent them', ',', 0],
  ])('are read with their rows %s', (_how, separator, turnsMin) => {
    it('as they are', async () => {
      const rows = Array.from({ length: 4_000 }, (_, at) => [at + 2, `],[${at}`, 'a\nb,']);
      const text = `[${rows.map((row) => JSON.stringify(row)).join(separator)}]`;
      const read: unknown[] = [];
      const session = {
        prepare: async (one: { rows: unknown[] }) => void read.push(...one.rows),
        apply: async () => 'sealed',
      } as unknown as ImportSession;
      async function* messages() {
        yield {
          batch: { number: 1, rows: Buffer.from(text), duplicates: Buffer.alloc(0) },
        } as ImportRequest__Output;
      }
      const call = { cancelled: false, write: () => true } as unknown as Call;

      const options = { acceptsParts: true, inTurns };
      const [, turns] = await countingTurns(() => receiveBatches(call, messages(), session, options));

      expect(read).toEqual(rows);
      expect(turns).toBeGreaterThanOrEqual(turnsMin);
    });
  });

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

    const received = receiveBatches({ cancelled: false } as Call, messages, session, {
      acceptsParts: true,
      inTurns,
    });

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
      const sent: ImportResponse[] = [];
      const call = { cancelled: false, write: (message: ImportResponse) => sent.push(message) > 0 };
      const session = {
        lastBatch: 0,
        prepare: async () => ({}),
        apply: async () => ({ inserted: 1, updated: 0, skipped: 0, failed: 4_000, errors }),
      } as unknown as ImportSession;
      async function* messages() {
        yield batch as ImportRequest__Output;
      }
      await receiveBatches(call as unknown as Call, messages(), session, { acceptsParts, inTurns });
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

    it('are grouped by rows in several steps', () => {
      const steps = groupByRow(Array.from({ length: 10 }, () => errors as RowError[]).flat());
      let count = 0;
      while (!steps.next().done) count++;

      expect(count).toBeGreaterThan(10);
    });

    it('have it made in many turns of the event loop', async () => {
      const [parts, turns] = await countingTurns(() => resultsFor(true));

      expect(turns).toBeGreaterThan(5 * parts.length);
    });

    it('have it whole for a sender that knows no parts', async () => {
      const results = await resultsFor(false);

      expect(results.map(({ rows }) => rows.length)).toEqual([4_000]);
    });
  });
});
