import { trace } from '@opentelemetry/api';
import { pino, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

const secrets = ['req.headers.authorization', 'authorization', 'token', 'password', '*.password'];
/** What Postgres says of a row that it refuses: all of its values. The constraint and the column have names of their own. */
const rows = ['err.detail', 'err.where', 'err.meta.driverAdapterError.cause.detail'];

/**
 * A JSON logger; its lines name the trace they belong to. Bodies, rows, tokens and cookies have no place in it.
 * @param destination where its lines go; standard output by default
 */
export const createLog = (
  config: { LOG_LEVEL: string },
  process: string,
  destination?: DestinationStream,
): Log => {
  const options = {
    level: config.LOG_LEVEL,
    base: { process },
    mixin: traceFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: [...secrets, ...rows],
  };
  return destination ? pino(options, destination) : pino(options);
};

/** Ids for a log line that is written in the course of a trace. */
function traceFields(): { traceId?: string; spanId?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { traceId: span.traceId, spanId: span.spanId };
}

/** A logger that writes nothing, for tests. */
export const silentLog = (): Log => pino({ level: 'silent' });
