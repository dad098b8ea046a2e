import type { Log } from '@plinth/runtime/log';
import type { Exchange } from './exchange';

const FLUSH_MILLISECONDS = 2_000;
const BATCH_MAX = 500;
/** What cannot be sent in time is dropped: traces never cost the platform its memory. */
const WAITING_MAX = 5_000;
const SERVER_SPAN = 2;
const STATUS_ERROR = 2;

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: object[];
  status: object;
}

export interface SpanExporter {
  /** Notes an answered request. */
  add(exchange: Exchange, seconds: number): void;
  close(): Promise<void>;
}

/** No traces are wanted. */
export const noSpans: SpanExporter = { add: () => undefined, close: async () => undefined };

/** Sends a span of every sampled request to an OpenTelemetry collector (OTLP over HTTP, JSON), in batches. */
export function createSpanExporter(endpoint: string, log: Log): SpanExporter {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  let waiting: Span[] = [];

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_MAX);
      await send(url, batch).catch((error: Error) =>
        log.warn({ reason: error.message }, 'traces were not taken'),
      );
    }
  };
  const timer = setInterval(() => void flush(), FLUSH_MILLISECONDS).unref();

  return {
    add(exchange, seconds) {
      if (exchange.trace.sampled && waiting.length < WAITING_MAX) waiting.push(spanOf(exchange, seconds));
    },
    async close() {
      clearInterval(timer);
      await flush();
      waiting = [];
    },
  };
}

async function send(url: string, spans: readonly Span[]): Promise<void> {
  const resource = { attributes: [text('service.name', 'gateway'), text('service.namespace', 'plinth')] };
  const body = JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'plinth' }, spans }] }],
  });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(FLUSH_MILLISECONDS),
  });
  if (!response.ok) throw new Error(`the collector answered ${response.status}`);
}

/** Paths may hold names of people and things, so the span has the name of the route only. */
function spanOf({ trace, method, area, route, response }: Exchange, seconds: number): Span {
  const end = BigInt(Date.now()) * 1_000_000n;
  const { statusCode } = response;
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    ...(trace.parentSpanId === undefined ? {} : { parentSpanId: trace.parentSpanId }),
    name: `${method} ${area}.${route}`,
    kind: SERVER_SPAN,
    startTimeUnixNano: String(end - BigInt(Math.round(seconds * 1e9))),
    endTimeUnixNano: String(end),
    attributes: [
      text('http.request.method', method),
      text('plinth.area', area),
      text('plinth.route', route),
      { key: 'http.response.status_code', value: { intValue: String(statusCode) } },
    ],
    status: statusCode >= 500 ? { code: STATUS_ERROR } : {},
  };
}

const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });
