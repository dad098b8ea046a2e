import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { resumedReading, type OpenedPart } from './resumed-reading';

const file = Buffer.from('0123456789');

/** Opens a file from some place on; as many bytes come as it is told, and then it breaks. */
function aServer(...lengths: (number | 'all')[]) {
  const opened: number[] = [];
  const bodies: Readable[] = [];
  const openRest = async (from: number): Promise<OpenedPart> => {
    const length = lengths[opened.push(from) - 1]!;
    const body = new Readable({ read: () => undefined });
    body.on('error', () => undefined);
    const rest = file.subarray(from, length === 'all' ? undefined : from + length);
    if (rest.length > 0) body.push(rest);
    if (length === 'all') body.push(null);
    bodies.push(body);
    return { body, length: file.length - from };
  };
  const breakOff = () => bodies.at(-1)!.destroy(new Error('aborted'));
  return { opened, openRest, breakOff };
}

const closed = () => new Promise((resolve) => setImmediate(resolve));

describe('a reading that its server breaks off', () => {
  it('goes on where it was, once it is asked for more', async () => {
    const { opened, openRest, breakOff } = aServer(4, 3, 'all');
    const reading = resumedReading(await openRest(0), openRest);
    const read = [(await reading.next()).value];
    breakOff();
    await closed();
    expect(opened).toEqual([0]);

    read.push((await reading.next()).value);
    breakOff();
    for await (const piece of reading) read.push(piece);
    expect(Buffer.concat(read as Buffer[])).toEqual(file);
    expect(opened).toEqual([0, 4, 7]);
  });

  it('goes on also where nobody had read any of it', async () => {
    const { opened, openRest, breakOff } = aServer(4, 'all');
    const first = await openRest(0);
    breakOff();
    await closed();

    expect(await buffer(Readable.from(resumedReading(first, openRest)))).toEqual(file);
    expect(opened).toEqual([0, 0]);
  });

  it('fails where nothing more comes though it is waited for', async () => {
    const { opened, openRest, breakOff } = aServer(4, 0);
    const reading = resumedReading(await openRest(0), openRest);
    await reading.next();
    breakOff();
    await closed();
    const next = reading.next();
    await closed();
    breakOff();

    await expect(next).rejects.toThrow('aborted');
    expect(opened).toEqual([0, 4]);
  });

  it('fails where the rest is broken as soon as it is opened', async () => {
    const { opened, openRest, breakOff } = aServer(4, 0, 'all');
    const openBroken = async (from: number) => {
      const part = await openRest(from);
      if (opened.length === 2) breakOff();
      await closed();
      return part;
    };
    const reading = resumedReading(await openRest(0), openBroken);
    await reading.next();
    breakOff();
    await closed();

    await expect(reading.next()).rejects.toThrow('aborted');
    expect(opened).toEqual([0, 4]);
  });

  it('has ended where all of it had come', async () => {
    const { opened, openRest, breakOff } = aServer(10);
    const reading = resumedReading(await openRest(0), openRest);
    await reading.next();
    breakOff();

    expect(await reading.next()).toEqual({ done: true, value: undefined });
    expect(opened).toEqual([0]);
  });
});
