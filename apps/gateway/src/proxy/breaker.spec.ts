import fc from 'fast-check';
import { Breaker } from './breaker';

const OPEN_MILLISECONDS = 1_000;

function aBreaker() {
  let now = 0;
  const clock = { now: () => new Date(now) };
  const breaker = new Breaker({ failuresMax: 3, openMilliseconds: OPEN_MILLISECONDS }, clock);
  return { breaker, pass: (milliseconds: number) => (now += milliseconds), now: clock.now };
}

describe('the circuit breaker', () => {
  it('tries another request where the one that it tries does not end, such as an upload', () => {
    const { breaker, pass } = aBreaker();
    for (let count = 0; count < 3; count++) breaker.failed();
    pass(OPEN_MILLISECONDS);
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
    pass(OPEN_MILLISECONDS);
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
    breaker.succeeded();
    expect([breaker.admits(), breaker.admits()]).toEqual([true, true]);
  });

  it('counts requests that took too long only while the service responds to no other', () => {
    const { breaker, pass, now } = aBreaker();
    const sentAt = now();
    pass(10);
    breaker.succeeded();
    for (let count = 0; count < 5; count++) breaker.timedOut(sentAt);
    expect(breaker.state).toBe('Closed');
    pass(10);
    for (let count = 0; count < 3; count++) breaker.timedOut(now());
    expect(breaker.state).toBe('Open');
  });

  it('admits everything until as many requests failed in a row, and then one at a time, whatever happens', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('request', 'succeeded', 'failed', 'abandoned') }),
      fc.record({ kind: fc.constant('wait'), milliseconds: fc.integer({ min: 1, max: 1_500 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { breaker, pass, now } = aBreaker();
        let failuresInARow = 0;
        let openedAt = 0;
        let triedAt: number | undefined;
        for (const one of steps) {
          if ('milliseconds' in one) pass(one.milliseconds);
          else if (one.kind === 'request') {
            const isOpen = failuresInARow >= 3;
            const hasPassed = (since: number | undefined) =>
              since === undefined || now().getTime() - since >= OPEN_MILLISECONDS;
            const expected = !isOpen || (hasPassed(openedAt) && hasPassed(triedAt));
            expect(breaker.admits()).toBe(expected);
            if (isOpen && expected) triedAt = now().getTime();
          } else {
            breaker[one.kind as 'succeeded' | 'failed' | 'abandoned']();
            triedAt = undefined;
            if (one.kind === 'succeeded') failuresInARow = 0;
            if (one.kind === 'failed' && ++failuresInARow >= 3) openedAt = now().getTime();
          }
        }
      }),
    );
  });
});
