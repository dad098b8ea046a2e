import { pino, type Logger } from 'pino';
import { traceFields } from './tracing';

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

/** A logger that says nothing, for tests. */
export const silentLog = (): Log => pino({ level: 'silent' });
