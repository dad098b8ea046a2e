import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { appendToOutbox } from '@plinth/runtime/messaging/outbox';
import { onCommit, onRollback } from '@plinth/runtime/postgres/beside-transaction';
import type { QueryConfig } from 'pg';
import { z } from 'zod';
import {
  inBulkTransaction,
  openBulkTransaction,
  type BulkDatabase,
  type BulkTransaction,
} from './bulk-transaction';

const noted = eventType('tests.noted', z.object({}));
const tenantId = newId();

/** A pool whose server commits, and is gone before it says so where it loses answers. */
function aDatabase({ losesAnswers }: { losesAnswers: boolean }) {
  const sentStatements: string[] = [];
  const query = async (statement: string | QueryConfig) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    sentStatements.push(text);
    if (losesAnswers && text.startsWith('COMMIT')) throw new Error('Connection terminated unexpectedly');
    return { rows: [], rowCount: 0 };
  };
  const sent = { stream: { writableCorked: 1 } };
  const connection = { query, release: () => undefined, connection: sent };
  const woken: (bigint | undefined)[] = [];
  const bulkPool = { connectFor: async () => connection, options: {} };
  const outbox = { place: () => 7n, wake: (after?: bigint) => void woken.push(after) };
  return { woken, sentStatements, database: { bulkPool, outbox } as unknown as BulkDatabase };
}

const publish = ({ tx }: BulkTransaction) =>
  appendToOutbox(tx, { type: noted, tenantId, subject: 'x', payload: {} });

describe('a bulk transaction whose commit was not answered', () => {
  it.each([
    ['published', publish, [7n]],
    ['published nothing', async () => undefined, []],
  ])('wakes the relay where it %s', async (_name, work, expected) => {
    const { woken, database } = aDatabase({ losesAnswers: true });
    await expect(inBulkTransaction(database, tenantId, work)).rejects.toThrow('terminated');
    expect(woken).toEqual(expected);

    const { run, commit } = await openBulkTransaction(database, tenantId);
    await run(work);
    await expect(commit()).rejects.toThrow('terminated');
    expect(woken).toEqual([...expected, ...expected]);
  });
});

describe('what is done beside a bulk transaction that stays open', () => {
  const openWithWork = async (losesAnswers: boolean) => {
    const { database } = aDatabase({ losesAnswers });
    const done: string[] = [];
    const open = await openBulkTransaction(database, tenantId);
    const work = async () => {
      onCommit(() => void done.push('after it'));
      onRollback(() => void done.push('undone'));
    };
    await open.run(work);
    await open.run(work);
    expect(done).toEqual([]);
    return { ...open, done };
  };

  it('ends with it', async () => {
    const { done, commit, close } = await openWithWork(false);
    await commit();
    await close();
    expect(done).toEqual(['after it', 'after it']);
  });

  it('is undone where it is rolled back', async () => {
    const { done, close } = await openWithWork(false);
    await close();
    expect(done).toEqual(['undone', 'undone']);
  });

  it('is undone where nobody knows whether it is committed', async () => {
    const { done, commit } = await openWithWork(true);
    await expect(commit()).rejects.toThrow('terminated');
    expect(done).toEqual(['undone', 'undone']);
  });
});

it('waits only briefly for locks in a transaction that can be repeated', async () => {
  const { database, sentStatements } = aDatabase({ losesAnswers: false });
  const limits = () => sentStatements.splice(0).filter((text) => text.includes('lock_timeout'));

  await inBulkTransaction(database, tenantId, async () => undefined);
  expect(limits()).toEqual([expect.stringContaining('SET LOCAL lock_timeout = 5000')]);
  const { close } = await openBulkTransaction(database, tenantId);
  await close();
  expect(limits()).toEqual([]);
});
