import { PrintTurns } from './print-turns';

/** Work that goes on until it is ended, and what has begun. */
function start() {
  const turns = new PrintTurns();
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const never = new AbortController().signal;
  const add = (how: 'beside' | 'alone', name: string, signal = never) => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    return turns[how](signal, async () => {
      begun.push(name);
      await end.promise;
    });
  };
  const settle = () => new Promise(setImmediate);
  const end = (name: string) => (ends.get(name)!.resolve(), settle());
  const fail = (name: string) => (ends.get(name)!.reject(new Error(name)), settle());
  return { begun, add, end, fail, settle };
}

describe('the turns of documents', () => {
  it('are taken side by side, except by one that is printed alone', async () => {
    const { begun, add, end, settle } = start();
    for (const name of ['a', 'b']) void add('beside', name);
    void add('alone', 'large');
    void add('beside', 'c');
    await settle();
    expect(begun).toEqual(['a', 'b']);

    await end('a');
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'large']);
    await end('large');
    expect(begun).toEqual(['a', 'b', 'large', 'c']);
  });

  it('come in the order of those who wait, so that one after the other alone keeps nobody out', async () => {
    const { begun, add, end, settle } = start();
    void add('alone', 'large');
    void add('beside', 'small');
    void add('alone', 'larger');
    await settle();
    await end('large');
    expect(begun).toEqual(['large', 'small']);
    await end('small');
    expect(begun).toEqual(['large', 'small', 'larger']);
  });

  it('go on behind one that failed, whose error its caller gets', async () => {
    const { begun, add, fail, settle } = start();
    const failed = [add('beside', 'a'), add('alone', 'large')];
    const errors = Promise.allSettled(failed);
    void add('beside', 'b');
    await settle();
    await fail('a');
    await fail('large');
    expect(begun).toEqual(['a', 'large', 'b']);
    expect((await errors).map((one) => one.status === 'rejected' && one.reason.message)).toEqual([
      'a',
      'large',
    ]);
  });

  it('are given up by those who wait and go, while none comes before another that is printed alone', async () => {
    const { begun, add, end, settle } = start();
    const going = new AbortController();
    void add('alone', 'large');
    const waiting = [add('beside', 'a', going.signal), add('alone', 'larger', going.signal)];
    const ended = Promise.allSettled(waiting);
    void add('beside', 'b');
    await settle();

    going.abort(new Error('gone'));

    expect((await ended).map((one) => one.status === 'rejected' && one.reason.message)).toEqual([
      'gone',
      'gone',
    ]);
    await settle();
    expect(begun).toEqual(['large']);
    await end('large');
    expect(begun).toEqual(['large', 'b']);
  });
});
