import { turnsAt } from '@plinth/runtime/process/fair-places';
import { readPage } from './read-page';

const READS = 4;

/** Asks for pages that are read when they are told to be. */
function openPages() {
  const pageReads = turnsAt(READS);
  const reading: { userId: string; end: () => void }[] = [];
  const ask = (tenantId: string, limit: number, signal = new AbortController().signal) => {
    const caller = { tenantId, userId: tenantId, userName: tenantId, permissions: [] };
    const read = () => new Promise<void>((resolve) => reading.push({ userId: tenantId, end: resolve }));
    return readPage(pageReads, caller, { limit }, read, signal);
  };
  return { reading, ask };
}

const turn = () => new Promise(setImmediate);

describe('pages of large rows', () => {
  it('of a hundred are read in turns of tenants, a few at the same time', async () => {
    const { reading, ask } = openPages();
    const asked = Array.from({ length: 50 }, () => ask('acme', 101));
    await turn();
    expect(reading).toHaveLength(READS / 2);
    asked.push(ask('other', 101));
    await turn();
    expect(reading.map(({ userId }) => userId)).toEqual(['acme', 'acme', 'other']);
    while (reading.length > 0) {
      expect(reading.length).toBeLessThanOrEqual(READS);
      reading.shift()!.end();
      await turn();
    }
    await Promise.all(asked);
  });

  it('of usual length wait for nothing', async () => {
    const { reading, ask } = openPages();
    for (let count = 0; count < 50; count++) void ask('acme', 21);
    await turn();
    expect(reading).toHaveLength(50);
  });

  it('are not read for a client that disconnected while it waited', async () => {
    const { reading, ask } = openPages();
    for (let count = 0; count < READS; count++) void ask('acme', 101);
    const client = new AbortController();
    const given = expect(ask('acme', 101, client.signal)).rejects.toThrow('gone');
    client.abort(new Error('gone'));
    await given;
    expect(reading).toHaveLength(READS / 2);
  });
});
