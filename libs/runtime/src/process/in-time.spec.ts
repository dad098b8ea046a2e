import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { inTime } from './in-time';

const HOUR_MILLISECONDS = 3_600_000;
const never = new Promise<string>(() => undefined);

describe('work that has a time', () => {
  it('results in what it results in, and leaves no timer behind', async () => {
    const before = process.getActiveResourcesInfo();

    expect(await inTime(HOUR_MILLISECONDS, Promise.resolve('done'), () => 'late')).toBe('done');
    await expect(
      inTime(HOUR_MILLISECONDS, Promise.reject(new Error('failed')), () => 'late'),
    ).rejects.toThrow('failed');
    expect(process.getActiveResourcesInfo()).toEqual(before);
  });

  it('results in something else where it takes longer', async () => {
    expect(await inTime(0, never, () => 'late')).toBe('late');
    await expect(
      inTime(0, never, () => {
        throw new Error('It does not respond.');
      }),
    ).rejects.toThrow('It does not respond.');
  });

  it('results in what arrived while the process stood still for longer', async () => {
    const { port1, port2 } = new MessageChannel();
    const answered = once(port2, 'message').then(() => 'answered');
    // Behind it in the event loop come the timers, and only then what has arrived.
    await new Promise(setImmediate);
    port1.postMessage('an answer');

    const result = inTime(1, answered, () => 'late');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);

    expect(await result).toBe('answered');
    port1.close();
  });
});
