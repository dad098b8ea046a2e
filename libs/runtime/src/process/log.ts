import { trace } from '@opentelemetry/api';
import { pino, type Logger } from 'pino';

export type Log = Logger;

/** A JSON logger; its lines name the trace they belong to. Bodies, tokens and cookies have no place in it. */
export const createLog = (config: { LOG_LEVEL: string }, process: string): Log =>
  pino({
    level: config.LOG_LEVEL,
    base: { process },
    mixin: traceFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['req.headers.authorization', 'authorization', 'token', 'password', '*.password'],
  });

/** Ids for a log line that is written in the course of a trace. */
function traceFields(): { traceId?: string; spanId?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { traceId: span.traceId, spanId: span.spanId };
}

/** A logger that writes nothing, for tests. */
export const silentLog = (): Log => pino({ level: 'silent' });
