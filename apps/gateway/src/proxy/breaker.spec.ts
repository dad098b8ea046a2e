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
    expect(breaker.state).toBe('closed');
    pass(10);
    for (let count = 0; count < 3; count++) breaker.timedOut(now());
    expect(breaker.state).toBe('open');
  });
});
