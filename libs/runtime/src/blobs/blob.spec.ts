import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { contentOf } from './blob';

describe('what is read of a file', () => {
  it('may break before anybody reads it, who learns of it then', async () => {
    const stored = new Readable({ read: () => undefined });
    const content = contentOf(stored);

    stored.destroy(new Error('The disk is gone.'));
    await setImmediate();

    await expect(text(content)).rejects.toMatchObject({ kind: 'upstream' });
  });
});
