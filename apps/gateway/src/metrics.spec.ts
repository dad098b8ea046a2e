import { Registry } from 'prom-client';
import { GatewayMetrics } from './metrics';
import type { RequestContext } from './request-context';
import { RequestHistory } from './request-history';

describe('GatewayMetrics', () => {
  it('leaves the time of event streams out of the mean, and keeps that of those that were refused', () => {
    const history = new RequestHistory({ now: () => new Date('2026-01-01T00:00:30Z') });
    const metrics = new GatewayMetrics(new Registry(), () => [], history);
    const contextOf = (statusCode: number) =>
      ({
        service: 'timeline',
        route: 'watchTimeline',
        isForEvents: true,
        response: { statusCode, writableFinished: true },
      }) as RequestContext;
    metrics.finished(contextOf(200), 600);
    expect(history.lastMinutes().at(-1)).toMatchObject({ requests: 1, meanMilliseconds: 0 });
    metrics.finished(contextOf(404), 0.1);
    expect(history.lastMinutes().at(-1)).toMatchObject({ requests: 2, meanMilliseconds: 100 });
  });
});
