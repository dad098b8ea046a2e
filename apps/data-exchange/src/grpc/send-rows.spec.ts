import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inTurnsOf } from '@plinth/exchange/in-turns';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { aCaller } from '@plinth/testing/http';
import type { RowBatch } from '../formats/row-batches';
import type { Owner } from './owners';
import { sendRows, type SendOptions } from './send-rows';

const inTurns = inTurnsOf(new EventLoopTurns(), aCaller());

/** An owner that has received batches, and answers the oldest when it is told to. */
function slowOwner() {
  const received: number[] = [];
  const call = new Duplex({
    objectMode: true,
    read: () => undefined,
    write: (message: { batch?: { number: number }; end?: object }, _encoding, done) => {
      if (message.batch) received.push(message.batch.number);
      if (message.end) call.push({ ended: {} });
      done();
    },
  });
  const result = { inserted: 1, updated: 0, skipped: 0, failures: Buffer.from('[]'), keys: Buffer.alloc(0) };
  const owner = {
    client: { Import: () => Object.assign(call, { cancel: () => undefined }) },
    identity: () => undefined,
  } as unknown as Owner;
  const answer = (part: object = {}) => void call.push({ result: { ...result, ...part } });
  return { owner, received, answer };
}

async function* batchesOf(count: number, parts: Partial<RowBatch>): AsyncGenerator<RowBatch> {
  for (let number = 1; number <= count; number++)
    yield {
      number,
      rowCount: 1,
      firstRow: number,
      lastRow: number,
      payload: Buffer.from('[]'),
      unreadableRows: [],
      unreadableRow: (rowNumber) => ({ rowNumber, kind: 'Conversion', details: [] }),
      keptLength: 0,
      cellsOf: () => ({ cells: [] }),
      ...parts,
    };
}

/** Everything that can happen now has happened. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
};

describe('sendRows', () => {
  it.each([
    ['four batches', {}, 4],
    ['the batch that reaches 2 MB of rows', { payload: Buffer.alloc(700_000) }, 3],
    ['the batch that reaches 4 MB of rows that are only kept', { keptLength: 2_000_000 }, 2],
    ['one batch that is larger', { payload: Buffer.alloc(3_000_000) }, 1],
  ])('sends %s, and the next one with each result', async (_, parts, inFlight) => {
    const { owner, received, answer } = slowOwner();
    const results: number[] = [];
    const options: SendOptions = {
      owner,
      service: 'shop',
      caller: aCaller(),
      start: { definition: 'Shop.Articles', commit: 'EACH_BATCH' },
      batches: batchesOf(8, parts),
      inTurns,
      onRefused: async () => undefined,
      onResult: async ({ batch }) => {
        results.push(batch.number);
        return true;
      },
      signal: new AbortController().signal,
    };

    const sending = sendRows(options);
    for (let answered = 0; answered < 8; answered++) {
      await settled();
      expect(received).toHaveLength(Math.min(8, answered + inFlight));
      expect(results).toHaveLength(answered);
      answer();
    }

    expect(await sending).toBe('sent');
    expect(results).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('counts the batches that the owner has when the rest of the file cannot be read', async () => {
    const { owner, received, answer } = slowOwner();
    const results: number[] = [];
    async function* damaged() {
      yield* batchesOf(3, {});
      throw new Error('The file is damaged.');
    }
    const sending = sendRows({
      owner,
      service: 'shop',
      caller: aCaller(),
      start: { definition: 'Shop.Articles', commit: 'EACH_BATCH' },
      batches: damaged(),
      inTurns,
      onRefused: async () => undefined,
      onResult: async ({ batch }) => {
        results.push(batch.number);
        return true;
      },
      signal: new AbortController().signal,
    });
    const ended = expect(sending).rejects.toThrow('damaged');
    await settled();
    expect(received).toEqual([1, 2, 3]);
    for (let answered = 0; answered < 3; answered++) answer();
    await ended;

    expect(results).toEqual([1, 2, 3]);
  });

  it('gives the refused rows of a result as they come, and keeps none', async () => {
    const { owner, answer } = slowOwner();
    const calls: unknown[] = [];
    const sending = sendRows({
      owner,
      service: 'shop',
      caller: aCaller(),
      start: { definition: 'Shop.Articles', commit: 'EACH_BATCH' },
      batches: batchesOf(1, {}),
      inTurns,
      onRefused: async ({ number }, rows, isLast) => void calls.push([number, rows, isLast]),
      onResult: async ({ batch, inserted }) => {
        calls.push([batch.number, inserted]);
        return true;
      },
      signal: new AbortController().signal,
    });
    const failed = (rowNumber: number) => ({ rowNumber, kind: 'Validation', details: [] });
    const failures = (...rows: number[]) => Buffer.from(JSON.stringify(rows.map(failed)));
    await settled();
    answer({ failures: failures(2, 3), moreFollows: true });
    await settled();
    expect(calls).toEqual([[1, [failed(2), failed(3)], false]]);
    answer({ failures: failures(5) });

    expect(await sending).toBe('sent');
    expect(calls.slice(1)).toEqual([
      [1, [failed(5)], true],
      [1, 1],
    ]);
  });

  it.each([
    ['ALL_OR_NOTHING', [1]],
    ['NEVER', [1]],
    ['EACH_BATCH', [1, 2]],
  ] as const)('takes no rows of what is rolled back behind the last result: %s', async (commit, taken) => {
    const { owner, answer } = slowOwner();
    const [refused, results]: [number[], number[]] = [[], []];
    const sending = sendRows({
      owner,
      service: 'shop',
      caller: aCaller(),
      start: { definition: 'Shop.Articles', commit },
      batches: batchesOf(2, {}),
      inTurns,
      onRefused: async ({ number }) => void refused.push(number),
      onResult: async ({ batch }) => {
        results.push(batch.number);
        return false;
      },
      signal: new AbortController().signal,
    });
    await settled();
    answer();
    answer();

    expect(await sending).toBe('stopped');
    await settled();
    expect({ refused, results }).toEqual({ refused: taken, results: taken });
  });
});
