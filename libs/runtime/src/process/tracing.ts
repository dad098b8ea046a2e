/**
 * One trace follows a request through every process it touches, and every log line on its way names it.
 *
 * The trace travels as W3C `traceparent`: in headers of HTTP, in metadata of gRPC, in the outbox and in headers of
 * NATS, in headers of Temporal. It does so always; spans are made and sent only where a collector is configured, and
 * only then is the SDK loaded. ADR 0017.
 */
import {
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanKind,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { TRACE_PARENT_HEADER, W3CTraceContextPropagator } from '@opentelemetry/core';
import type { Close } from './lifecycle';
import type { Log } from './log';

/** How many spans wait to be sent, and how long a collector may take; spans beyond that are dropped. */
const EXPORT = { scheduledDelayMillis: 2_000, exportTimeoutMillis: 2_000, maxQueueSize: 4_096 };

export { TRACE_PARENT_HEADER };

const propagator = new W3CTraceContextPropagator();
const tracer = trace.getTracer('plinth');

/** Makes this process follow traces, and send its spans where a collector is configured. Close it last. */
export async function startTracing(
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }: { OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined },
  process: string,
  log: Log,
): Promise<Close> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  if (endpoint === undefined) return () => undefined;
  const [{ BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const warn = (message: string): void => log.warn({ reason: message }, 'exporting traces failed');
  diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT.exportTimeoutMillis,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': process, 'service.namespace': 'plinth' }),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...EXPORT })],
  });
  trace.setGlobalTracerProvider(provider);
  return () => provider.shutdown();
}

const ignore = (): void => undefined;

/** The step of a trace that is being made here, for another process to go on with; undefined outside of any. */
export function currentTraceparent(): string | undefined {
  const carrier: { [TRACE_PARENT_HEADER]?: string } = {};
  propagator.inject(context.active(), carrier, defaultTextMapSetter);
  return carrier[TRACE_PARENT_HEADER];
}

export interface Step {
  name: string;
  kind: SpanKind;
  /** Of the process before; without it this is a step of what runs here, or the first of a trace. */
  traceparent?: string | undefined;
}

/** Starts a step that the caller ends; prefer `inSpan` where the step is one function. */
export const startSpan = ({ name, kind, traceparent }: Step): Span =>
  tracer.startSpan(name, { kind }, contextFrom(traceparent));

/** Does some work as one step of a trace. An error is recorded and thrown on. */
export function inSpan<Result>(step: Step, work: (span: Span) => Promise<Result>): Promise<Result> {
  const parent = contextFrom(step.traceparent);
  return tracer.startActiveSpan(step.name, { kind: step.kind }, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Describes the request of a span. Paths may hold names of people and things, so a span has the name of the route only. */
export function describeSpan(
  span: Span,
  request: { area: string; method: string; route: string; status: number },
): void {
  const { area, method, route, status } = request;
  span.updateName(`${method} ${area}.${route}`);
  span.setAttributes({
    'http.request.method': method,
    'http.response.status_code': status,
    'plinth.area': area,
    'plinth.route': route,
  });
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

const contextFrom = (traceparent: string | undefined): Context =>
  traceparent === undefined
    ? context.active()
    : propagator.extract(ROOT_CONTEXT, { [TRACE_PARENT_HEADER]: traceparent }, defaultTextMapGetter);
