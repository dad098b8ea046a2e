import type { PoolClient, QueryConfig } from 'pg';
import type { FairPool } from './fair-pool';
import { inTenantConnection } from './postgres';

/** A connection to a server that does not begin the transaction, while the work in it waits for its own statements. */
function lostServer() {
  const begun = Promise.reject<never>(new Error('Query read timeout'));
  const isHandled = jest.spyOn(begun, 'then');
  const work = Promise.withResolvers<void>();
  const release = jest.fn();
  const connection = {
    connection: { stream: { writableCorked: 1 } },
    query: (statement: QueryConfig | string) =>
      typeof statement !== 'string' && statement.text.startsWith('BEGIN') ? begun : work.promise,
    release,
  } as unknown as PoolClient;
  const pool = {
    options: { pipeline: true },
    silenceMilliseconds: 10,
    connectFor: () => Promise.resolve(connection),
  } as unknown as FairPool;
  return { pool, work, isHandled, release };
}

describe('a transaction whose server does not let it begin', () => {
  it('fails at its end, and not its process as soon as that is known', async () => {
    const { pool, work, isHandled, release } = lostServer();
    const failed = inTenantConnection(pool, 'acme', () => work.promise);
    failed.catch(() => undefined);
    await new Promise(setImmediate);
    expect(isHandled).toHaveBeenCalled();
    work.reject(new Error('Connection terminated unexpectedly'));
    await expect(failed).rejects.toThrow('Connection terminated unexpectedly');
    expect(release).toHaveBeenCalledWith(expect.objectContaining({ message: 'Query read timeout' }));
  });
});
