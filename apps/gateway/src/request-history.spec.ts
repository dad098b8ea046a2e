import { RequestHistory } from './request-history';

describe('RequestHistory', () => {
  it('counts the requests of the last three hours by minute, and forgets older ones', () => {
    let now = Date.parse('2026-01-01T00:00:30Z');
    const history = new RequestHistory({ now: () => new Date(now) });
    history.record('timeline', 200, 0.1);
    history.record('timeline', 503, 0.3);
    history.record('settings', 429, 0.2);
    expect(history.lastMinutes()).toHaveLength(180);
    expect(history.lastMinutes().at(-1)).toEqual({
      at: '2026-01-01T00:00:00.000Z',
      requests: 3,
      failed: 1,
      limited: 1,
      meanMilliseconds: 200,
    });
    // An event stream, which says nothing of how fast requests are.
    history.record('timeline', 200, undefined);
    expect(history.lastMinutes().at(-1)).toMatchObject({ requests: 4, meanMilliseconds: 200 });
    now += 180 * 60_000;
    history.record('timeline', 200, 0.1);
    expect(history.lastMinutes().reduce((sum, { requests }) => sum + requests, 0)).toBe(1);
    expect(history.ofService('timeline')).toEqual({ requests: 4, failed: 1 });
    expect(history.ofService('workflow')).toEqual({ requests: 0, failed: 0 });
  });
});
