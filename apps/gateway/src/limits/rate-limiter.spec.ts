import type { Redis } from 'ioredis';
import type { Run } from '../idempotency/records';
import type { Quota } from './policies';
import { RateLimiter } from './rate-limiter';

const quotasOf = (userId: string): Quota[] => [{ key: `default:u:acme:${userId}`, scope: 'user', limit: 10 }];

/** A Redis whose scripts end as the test says. */
function startLimiter(markerMilliseconds?: number) {
  const scripts: PromiseWithResolvers<number[]>[] = [];
  const calls: unknown[][] = [];
  const redis = {
    defineCommand: () => undefined,
    plinthDecideBuffer: (...call: unknown[]) => {
      const script = Promise.withResolvers<number[]>();
      scripts.push(script);
      calls.push(call);
      return script.promise;
    },
  };
  return { limiter: new RateLimiter(redis as unknown as Redis, markerMilliseconds), scripts, calls };
}

const runOf = (operationId: string): Run => ({
  operationId,
  owner: { tenantId: 'acme', userId: 'ada' },
  run: `run-${operationId}`,
  fingerprint: 'body',
});

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

  it('tells each request whether it has its idempotency key, whichever of them have one', async () => {
    const { limiter, scripts, calls } = startLimiter(30_000);
    const decisions = [
      limiter.consume(quotasOf('ada')),
      limiter.consume(quotasOf('ada'), runOf('one')),
      limiter.consume(quotasOf('bob'), runOf('two')),
      limiter.consume(quotasOf('ada'), runOf('three')),
    ];
    await nextTurn();
    // One of ada's may not pass; the key of the first is new.
    scripts[0]!.resolve([2, 1, 0, 60_000, 1, 2, 9, 60_000, 1, 0, 0]);
    const decided = await Promise.all(decisions);
    expect(decided.map(({ allowed, hasKey }) => [allowed, hasKey])).toEqual([
      [true, false],
      [true, true],
      [true, false],
      [false, false],
    ]);
    expect(calls[0]!.slice(1, 6)).toEqual([
      'plinth:limit:default:u:acme:ada',
      'plinth:limit:default:u:acme:bob',
      'plinth:idempotency:one',
      'plinth:idempotency:three',
      'plinth:idempotency:two',
    ]);
  });

  it('leaves it to some of very many requests to claim their keys, so that Redis is not held up', async () => {
    const { limiter, scripts, calls } = startLimiter(30_000);
    const decisions = Array.from({ length: 300 }, (_, number) =>
      limiter.consume(quotasOf('ada'), runOf(String(number))),
    );
    await nextTurn();
    scripts[0]!.resolve([300, 1, 9, 60_000, ...Array<number>(256).fill(1)]);
    const decided = await Promise.all(decisions);
    expect(decided.filter(({ hasKey }) => hasKey)).toHaveLength(256);
    expect(calls[0]![0]).toBe(257);
    const next = limiter.consume(quotasOf('ada'), runOf('next'));
    while (scripts.length < 2) await nextTurn();
    scripts[1]!.resolve([1, 1, 9, 60_000, 1]);
    expect(await next).toMatchObject({ hasKey: true });
  });

  it('leaves keys alone that are in another Redis', async () => {
    const { limiter, scripts, calls } = startLimiter();
    const ada = limiter.consume(quotasOf('ada'), runOf('one'));
    await nextTurn();
    scripts[0]!.resolve([1, 1, 9, 60_000]);
    expect(await ada).toMatchObject({ allowed: true, hasKey: false });
    expect(calls[0]).not.toContain('plinth:idempotency:one');
  });
});
