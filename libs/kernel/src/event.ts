import type { z } from 'zod';

/** A type of event that a service publishes: `service.what-happened`, and the shape of its payload. */
export interface EventType<Payload extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly payload: Payload;
}

export type PayloadOf<E extends EventType> = z.output<E['payload']>;

/** Declares an event type and keeps its exact type. */
export const eventType = <Payload extends z.ZodType>(name: string, payload: Payload): EventType<Payload> => ({
  name,
  payload,
});

/** An event as it is published: what happened, to what, when, and by whom. */
export interface EventEnvelope<Payload = unknown> {
  id: string;
  name: string;
  tenantId: string;
  /** What it happened to; events of one subject are ordered by `sequence`. */
  subject: string;
  sequence: number;
  occurredAt: string;
  actorId: string | null;
  actorName: string | null;
  /** The step of a trace in which it happened (W3C), where there was one. */
  traceparent?: string | undefined;
  payload: Payload;
}

/** An event for the subscriber that processes it. */
export interface DeliveredEvent<Payload = unknown> extends EventEnvelope<Payload> {
  /**
   * How often it was delivered, this time included: to any replica, and whatever the attempts before failed for. Infinite
   * where it is replayed as a dead letter: it waits for nothing any more.
   */
  deliveryCount: number;
}
