import type { z } from 'zod';

/** A fact that one area tells the others: `area.what-happened`, and the shape of what it says. */
export interface EventType<Payload extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly payload: Payload;
}

export type PayloadOf<E extends EventType> = z.output<E['payload']>;

/** Declares a fact and keeps its exact type. */
export const eventType = <Payload extends z.ZodType>(name: string, payload: Payload): EventType<Payload> => ({
  name,
  payload,
});

/** A fact on its way: what happened, to what, when, and through whom. */
export interface EventEnvelope<Payload = unknown> {
  id: string;
  name: string;
  tenantId: string;
  /** What it happened to; facts of one subject keep their order by `sequence`. */
  subject: string;
  sequence: number;
  occurredAt: string;
  actorId: string | null;
  actorName: string | null;
  /** The step of a trace in which it happened (W3C), where there was one. */
  traceparent?: string | undefined;
  payload: Payload;
}
