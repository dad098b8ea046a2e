import { text } from 'node:stream/consumers';
import { eventually } from '@plinth/testing/eventually';
import { silentLog } from '@plinth/runtime/process/log';
import { startTracing } from '@plinth/runtime/process/tracing';
import {
  closeAll,
  echo,
  onCloseAll,
  sendJson,
  startGateway,
  startUpstream,
  type ReceivedRequest,
} from './start-gateway';

afterEach(closeAll);

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
}

/** A collector of traces, and what it was sent. */
async function startCollector() {
  const sent: { path: string; body: string }[] = [];
  const url = await startUpstream((request, response) => {
    void text(request).then((body) => {
      sent.push({ path: request.url!, body });
      sendJson(response, 200, {});
    });
  });
  const spans = (): Span[] =>
    sent.flatMap(
      ({ body }) =>
        (JSON.parse(body) as { resourceSpans: [{ scopeSpans: [{ spans: Span[] }] }] }).resourceSpans[0]
          .scopeSpans[0].spans,
    );
  return { url, sent, spans };
}

describe('traces and metrics of the gateway', () => {
  it('show one trace from the client through the gateway to the service', async () => {
    const collector = await startCollector();
    const received: ReceivedRequest[] = [];
    const collected = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    onCloseAll(await startTracing(collected, 'gateway', silentLog()));
    const { fetch } = await startGateway({ things: await startUpstream(echo(received)) }, collected);
    await fetch('/api/v1/things/secret-name', {
      headers: { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` },
    });
    await fetch('/api/v1/things', { headers: { traceparent: `00-${TRACE_ID}-b7ad6b7169203332-00` } });
    await closeAll();
    const [span] = collector.spans().filter(({ traceId }) => traceId === TRACE_ID);
    expect(collector.sent[0]!.path).toBe('/v1/traces');
    expect(span).toMatchObject({ parentSpanId: 'b7ad6b7169203331', name: 'GET things.getThing' });
    expect(received[0]!.headers['traceparent']).toBe(`00-${TRACE_ID}-${span!.spanId}-01`);
    expect(collector.spans().filter(({ traceId }) => traceId === TRACE_ID)).toHaveLength(1);
    expect(JSON.stringify(collector.sent)).not.toMatch(/secret-name|Bearer|\bada\b/);
  });

  it('count every request by service, route and status, and every decision about limits and idempotency keys', async () => {
    const { fetch, gateway } = await startGateway({ things: await startUpstream(echo()) });
    await fetch('/api/v1/things');
    await fetch('/api/v1/things/x', { as: { roles: [] } });
    await fetch('/nowhere');
    const key = { 'idempotency-key': crypto.randomUUID() };
    for (let count = 0; count < 2; count++)
      await fetch('/api/v1/things', { method: 'POST', body: '{}', headers: key });
    const metrics = await gateway.metrics.metrics();
    const valueOf = (name: string, ...labels: string[]) =>
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
        ?.split('} ')[1];
    const requestCount = 'plinth_gateway_request_duration_seconds_count';
    expect(valueOf(requestCount, 'area="things"', 'route="listThings"', 'status="200"')).toBe('1');
    expect(valueOf(requestCount, 'area="things"', 'route="getThing"', 'status="403"')).toBe('1');
    expect(valueOf(requestCount, 'area="gateway"', 'route="none"', 'status="404"')).toBe('1');
    expect(valueOf('plinth_gateway_idempotency_outcomes_total', 'outcome="claimed"')).toBe('1');
    expect(valueOf('plinth_gateway_idempotency_outcomes_total', 'outcome="replayed"')).toBe('1');
    expect(valueOf('plinth_gateway_rate_limit_decisions_total', 'decision="allowed"')).toBe('5');
    expect(valueOf('plinth_gateway_breaker_state', 'area="things"')).toBe('0');
    expect(metrics).toContain('nodejs_eventloop_lag_seconds');
  });

  it('count downloads that are cut off, and no streams of events, which their readers end', async () => {
    const { fetch, gateway } = await startGateway({
      things: await startUpstream((request, response) => {
        const isEvents = request.url!.endsWith('/events');
        response.writeHead(200, { 'content-type': isEvents ? 'text/event-stream' : 'text/csv' });
        response.write('data: 1\n\n');
      }),
    });
    const leave = async (path: string) => {
      const reader = (await fetch(path)).body!.getReader();
      await reader.read();
      await reader.cancel();
    };
    const countOf = async (name: string) =>
      [...(await gateway.metrics.metrics()).matchAll(new RegExp(`^${name}\\{.*\\} (.*)$`, 'gm'))]
        .map(([line, count]) => `${/route="(\w+)"/.exec(line)![1]} ${count}`)
        .sort();
    await leave('/api/v1/things/all/events');
    await leave('/api/v1/files/large.csv');
    await eventually(async () => {
      const ended = await countOf('plinth_gateway_request_duration_seconds_count');
      return ['getFile 1', 'watchThings 1'].every((route) => ended.includes(route));
    });
    expect(await countOf('plinth_gateway_unfinished_responses_total')).toEqual(['getFile 1']);
  });
});
