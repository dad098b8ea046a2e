import { randomUUID } from 'node:crypto';
import { SpanKind, TraceFlags, type Span } from '@opentelemetry/api';
import { describeSpan, startSpan } from '@plinth/runtime/process/tracing';

/** W3C trace context of one request: the trace it belongs to, and the gateway's own span in it. */
export interface Trace {
  traceId: string;
  spanId: string;
  sampled: boolean;
  /** Only where a collector is configured. */
  span?: Span;
}

/** What the span of a finished request says about it. */
export interface SpanAttributes {
  method: string;
  area: string;
  route: string;
  status: number;
}

/** The gateway's part in traces: each request is one span. */
export interface Spans {
  /** Continues the trace of a `traceparent` header, or starts one where the header is missing or not valid. */
  begin(header: string | undefined): Trace;
  end(trace: Trace, attributes: SpanAttributes): void;
}

/** Spans for a collector. */
export const collectedSpans: Spans = {
  begin(traceparent) {
    const span = startSpan({ name: 'request', kind: SpanKind.SERVER, traceparent });
    const { traceId, spanId, traceFlags } = span.spanContext();
    return { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0, span };
  },
  end({ span }, attributes) {
    if (!span) return;
    describeSpan(span, attributes);
    span.end();
  },
};

/** Without a collector no span is made; services and logs still get the ids of the trace. */
export const noopSpans: Spans = { begin: readTrace, end: () => undefined };

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
