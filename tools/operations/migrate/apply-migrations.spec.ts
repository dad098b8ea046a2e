import type { Client } from 'pg';
import { whileLocked } from './apply-migrations.ts';

jest.mock('node:timers/promises', () => ({ setTimeout: () => Promise.resolve() }));

/** A connection to a database that another process migrates until this one has asked so many times. */
function clientThatWaits(attempts: number): Client {
  let asked = 0;
  const query = () => Promise.resolve({ rows: [{ isLocked: ++asked > attempts }] });
  return { database: 'notes', query } as unknown as Client;
}

it('who waits for another process that migrates says so once, after a while', async () => {
  const log = jest.spyOn(console, 'log').mockReturnValue(undefined);
  expect(await whileLocked(clientThatWaits(49), async () => 'done')).toBe('done');
  expect(log).not.toHaveBeenCalled();

  expect(await whileLocked(clientThatWaits(500), async () => 'done')).toBe('done');
  expect(log.mock.calls).toEqual([[expect.stringMatching(/^notes: another process migrates this database/)]]);
});
