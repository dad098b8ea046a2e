import type { Redis } from 'ioredis';
import type { Quota } from './policies';
import { RateLimiter } from './rate-limiter';

const quotasOf = (userId: string): Quota[] => [{ key: `default:u:acme:${userId}`, scope: 'user', limit: 10 }];

/** A Redis whose scripts end as the test says. */
function startLimiter() {
  const scripts: PromiseWithResolvers<number[]>[] = [];
  const redis = {
    defineCommand: () => undefined,
    plinthDecideBuffer: () => {
      const script = Promise.withResolvers<number[]>();
      scripts.push(script);
      return script.promise;
    },
  };
  return { limiter: new RateLimiter(redis as unknown as Redis), scripts };
}

const nextTurn = () => new Promise(setImmediate);

describe('a rate limiter', () => {
  it('decides what came while Redis decided others by the next script', async () => {
    const { limiter, scripts } = startLimiter();
    const ada = limiter.consume(quotasOf('ada'));
    await nextTurn();
    const bob = limiter.consume(quotasOf('bob'));
    scripts[0]!.resolve([1, 1, 9, 60_000]);
    expect(await ada).toMatchObject({ allowed: true, counted: true });
    while (scripts.length < 2) await nextTurn();
    scripts[1]!.resolve([0, 1, 0, 60_000]);
    expect(await bob).toMatchObject({ allowed: false, counted: true });
  });

  it('allows all who wait as soon as Redis fails once, so that nobody waits for it twice', async () => {
    const { limiter, scripts } = startLimiter();
    const ada = limiter.consume(quotasOf('ada'));
    await nextTurn();
    const bob = limiter.consume(quotasOf('bob'));
    scripts[0]!.reject(new Error('Command timed out'));
    expect(await Promise.all([ada, bob, limiter.consume(quotasOf('carol'))])).toEqual(
      Array(3).fill(expect.objectContaining({ allowed: true, counted: false })),
    );
    expect(scripts).toHaveLength(1);
  });
});
