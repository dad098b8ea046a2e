import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EventLoopTurns } from './fair-places';
import { encodeInTurns, inTurns } from './in-turns';

const PIECE = Buffer.alloc(64 * 1024, 'x');

/** A stream that has all of its pieces at once, as one that is read from a fast socket. */
const readable = (pieces: number): Readable => {
  const stream = new Readable({ read: () => undefined });
  for (let count = 0; count < pieces; count++) stream.push(PIECE);
  stream.push(null);
  return stream;
};

describe('streams in turns', () => {
  it('pass on all of their bytes', async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of readable(20).pipe(
      inTurns({ tenantId: 'a', userId: 'ada' }, new EventLoopTurns()),
    ))
      chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(Buffer.concat(Array.from({ length: 20 }, () => PIECE)))).toBe(true);
  });

  it('of one tenant let a short one of another end while they are at their beginning', async () => {
    const turns = new EventLoopTurns();
    const passed = { greedy: 0, modest: 0 };
    const pass = (tenantId: keyof typeof passed, pieces: number) =>
      pipeline(
        readable(pieces),
        inTurns({ tenantId, userId: 'ada' }, turns),
        new Writable({
          highWaterMark: 64 * 1024 * 1024,
          write(_chunk, _encoding, done) {
            passed[tenantId]++;
            done();
          },
        }),
      );
    const greedy = Array.from({ length: 20 }, () => pass('greedy', 10));
    await pass('modest', 2);
    expect(passed.modest).toBe(2);
    expect(passed.greedy).toBeLessThan(20);
    await Promise.all(greedy);
    expect(passed.greedy).toBe(200);
  });

  it('pass on one piece in a turn of the event loop', async () => {
    let loops = 0;
    let isEnded = false;
    const countLoops = (): void => {
      loops++;
      if (!isEnded) setImmediate(countLoops);
    };
    setImmediate(countLoops);
    const turns = new EventLoopTurns();
    const pass = async (userId: string) => {
      const passed: number[] = [];
      for await (const _piece of readable(5).pipe(inTurns({ tenantId: 'a', userId }, turns)))
        passed.push(loops);
      return passed;
    };
    const passed = (await Promise.all([pass('ada'), pass('bob')])).flat();
    isEnded = true;
    expect(new Set(passed).size).toBe(10);
  });

  it('encode the pieces of a text, each in a turn', async () => {
    const turns = new EventLoopTurns();
    const made: string[] = [];
    const pieces = function* (name: string) {
      for (const text of ['a', 'ü', '😀']) {
        made.push(name);
        yield text;
      }
    };
    const encode = (tenantId: string) => encodeInTurns(pieces(tenantId), { tenantId, userId: 'ada' }, turns);
    const [encoded] = await Promise.all([encode('one'), encode('other')]);
    expect(Buffer.concat(encoded).toString()).toBe('aü😀');
    expect(made.join(' ')).toBe('one other one other one other');
  });

  it('end with the one that they are read from, and with the one that they are written to', async () => {
    const turns = new EventLoopTurns();
    const source = readable(1_000);
    const target = new Writable({ write: (_chunk, _encoding, done) => done(new Error('closed')) });
    await expect(pipeline(source, inTurns({ tenantId: 'a', userId: 'ada' }, turns), target)).rejects.toThrow(
      'closed',
    );
    expect(source.destroyed).toBe(true);
    expect(await turns.take({ tenantId: 'a', userId: 'bob' }, () => 'next')).toBe('next');
  });
});
