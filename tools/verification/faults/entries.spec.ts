import type { Client } from '../../development/demo/client';
import { requireNotifiedOnce } from './entries';

const written = Array.from({ length: 6_000 }, (_, index) => `entry-${index}`);

/** A person with these notifications, on one page. */
const notifiedOnly = (of: readonly string[]): Client => ({
  call: async () =>
    ({ body: { items: of.map((entryId) => ({ entryId })), nextCursor: null } }) as Awaited<
      ReturnType<Client['call']>
    >,
});

describe('notifications of more entries than are kept', () => {
  it('are right where the newest are there', async () => {
    expect(await requireNotifiedOnce(notifiedOnly(written.slice(-5_000)), written)).toBe(true);
  });

  it.each([
    ['one of the newest is missing', written.slice(-5_000, -1)],
    ['there are two of one entry', [...written.slice(-5_000), 'entry-5999']],
    ['one is of an entry that nobody has written', [...written.slice(-5_000), 'entry-7000']],
  ])('are wrong where %s', async (_what, of) => {
    await expect(requireNotifiedOnce(notifiedOnly(of), written)).rejects.toThrow('Of 6000 entries');
  });
});
