import { Readable } from 'node:stream';
import { aCaller } from '@plinth/testing/http';
import type { Owner } from './owners';
import { receiveRows } from './receive-rows';

/** An owner that responds with these messages. */
const ownerOf = (messages: object[]): Owner =>
  ({
    client: { Export: () => Object.assign(Readable.from(messages), { cancel: () => undefined }) },
    identity: () => undefined,
  }) as unknown as Owner;

async function received(messages: object[]): Promise<string> {
  const from = { owner: ownerOf(messages), service: 'shop', caller: aCaller() };
  const request = { definition: 'Shop.Articles', fields: ['code'], includeId: false, selection: '{}' };
  let text = '';
  for await (const lines of receiveRows({ ...from, signal: new AbortController().signal }, request))
    text += lines.toString();
  return text;
}

describe('receiveRows', () => {
  it('returns the whole lines that an owner sends', async () => {
    expect(await received([{ lines: Buffer.from('A\nB\n') }, { lines: Buffer.from('C\n') }])).toBe(
      'A\nB\nC\n',
    );
  });

  it.each([
    ['in another field', { rows: Buffer.from('[["A"]]'), lines: Buffer.alloc(0) }],
    ['in parts', { lines: Buffer.from('A\nB') }],
  ])('refuses rows that come %s, so that no file lacks rows', async (_, message) => {
    await expect(received([message])).rejects.toMatchObject({ kind: 'overloaded' });
  });
});
