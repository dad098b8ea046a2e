import { randomUUID } from 'node:crypto';
import { SpanKind, TraceFlags, type Span } from '@opentelemetry/api';
import { describeSpan, startSpan } from '@plinth/runtime/tracing';
import type { Exchange } from './exchange';

/** W3C trace context of one request: the trace it belongs to, and the gateway's own span in it. */
export interface Trace {
  traceId: string;
  spanId: string;
  sampled: boolean;
  /** Where spans are made. */
  span?: Span;
}

/** The gateway's part in traces: each request is one span. */
export interface Spans {
  /** Goes on with the trace of a `traceparent` header, or starts one where there is none or it is not valid. */
  begin(header: string | undefined): Trace;
  end(exchange: Exchange): void;
}

/** Spans for a collector. */
export const collectedSpans: Spans = {
  begin(traceparent) {
    const span = startSpan({ name: 'request', kind: SpanKind.SERVER, traceparent });
    const { traceId, spanId, traceFlags } = span.spanContext();
    return { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0, span };
  },
  end({ trace, method, area, route, response }) {
    if (!trace.span) return;
    describeSpan(trace.span, { area, method, route, status: response.statusCode });
    trace.span.end();
  },
};

/** No collector: a request has its place in a trace all the same, and services and logs are told of it. */
export const untoldSpans: Spans = { begin: readTrace, end: () => undefined };

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

export function readTrace(header: string | undefined): Trace {
  const hex = randomUUID().replaceAll('-', '');
  const spanId = hex.slice(0, 16);
  const [, version, traceId, parentSpanId, flags] = (header && TRACEPARENT.exec(header)) || [];
  const usable =
    version !== undefined && version !== 'ff' && !/^0+$/.test(traceId!) && !/^0+$/.test(parentSpanId!);
  if (!usable) return { traceId: hex, spanId, sampled: true };
  return { traceId: traceId!, spanId, sampled: (parseInt(flags!, 16) & 1) === 1 };
}

export const traceparent = ({ traceId, spanId, sampled }: Trace): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
