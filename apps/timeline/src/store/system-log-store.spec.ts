import type { Prisma } from '../generated/client';
import { insertSystemLogs } from './system-log-store';

/** The entities of each statement that writes these logs, which nobody follows. */
async function statementsOf(...ofEach: { entityType: string; entityIds: string[] }[]): Promise<string[][]> {
  const statements: string[][] = [];
  const tx = {
    $queryRaw: async (_text: unknown, ...values: unknown[]) => {
      const [types, , entityIds, positions] = values as [string[], string[], string[], number[]];
      statements.push(entityIds.map((id, index) => `${types[positions[index]! - 1]}/${id}`));
      return [];
    },
  } as unknown as Prisma.TransactionClient;
  const message = { key: 'entity.noted', values: { en: 'Imported.', fr: 'Importé.' } };
  const about = { message, actorId: 'bob', actorName: 'Bob', at: new Date(0) };
  const logs = ofEach.map((one) => ({ ...about, ...one }));
  await insertSystemLogs(tx, 'acme', logs, { sharesEntries: false });
  return statements;
}

describe('entries of system logs', () => {
  it('are written by statements of 5,000 at most, in one order from the first to the last', async () => {
    const idsOf = (log: number) =>
      Array.from({ length: 3_000 }, (_, index) => `${(index * 7 + log) % 9_000}`);
    const logs = [0, 1, 2, 3].map((log) => ({
      entityType: log % 2 ? 'Contact' : 'Company',
      entityIds: idsOf(log),
    }));
    const statements = await statementsOf(...logs);

    expect(statements.map(({ length }) => length)).toEqual([5_000, 5_000, 2_000]);
    const written = statements.flat();
    const expected = logs.flatMap(({ entityType, entityIds }) =>
      entityIds.map((id) => `${entityType}/${id}`),
    );
    expect(written).toEqual(expected.sort());
  });

  it('are in the order of code points, as Postgres has them', async () => {
    const entityIds = ['\u{1F600}', '\uFF5E', 'b', 'B', 'a'];
    expect(await statementsOf({ entityType: 'A', entityIds })).toEqual([
      ['A/B', 'A/a', 'A/b', 'A/\uFF5E', 'A/\u{1F600}'],
    ]);
  });
});
