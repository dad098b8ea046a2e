import { randomUUID } from 'node:crypto';

/** W3C trace context of one request: the trace it belongs to, and the gateway's own span in it. */
export interface Trace {
  traceId: string;
  spanId: string;
  /** The caller's span, where the request came with one. */
  parentSpanId: string | undefined;
  sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Goes on with the trace of a `traceparent` header, or starts one where there is none or it is not valid. */
export function readTrace(header: string | undefined): Trace {
  const hex = randomUUID().replaceAll('-', '');
  const [, version, traceId, parentSpanId, flags] = (header && TRACEPARENT.exec(header)) || [];
  const usable =
    version !== undefined && version !== 'ff' && !/^0+$/.test(traceId!) && !/^0+$/.test(parentSpanId!);
  if (!usable) return { traceId: hex, spanId: hex.slice(0, 16), parentSpanId: undefined, sampled: true };
  return {
    traceId: traceId!,
    spanId: hex.slice(0, 16),
    parentSpanId,
    sampled: (parseInt(flags!, 16) & 1) === 1,
  };
}

export const traceparent = ({ traceId, spanId, sampled }: Trace): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
