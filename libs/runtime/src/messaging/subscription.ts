import { SpanKind } from '@opentelemetry/api';
import type { DeliveredEvent, EventType, PayloadOf } from '@plinth/kernel/event';
import { inSpan } from '../process/tracing';

export interface Subscription<Tx> {
  type: EventType;
  /**
   * Processes events of a tenant inside the transaction that also records them in the inbox. May return what is to be done
   * after the commit; that is done at most once, so nothing may depend on it.
   */
  handle: HandleMany<Tx, never>;
}

/** What is done after the commit of a transaction. */
export type AfterCommit = () => void;
type HandleMany<Tx, Payload> = (
  tx: Tx,
  tenantId: string,
  events: readonly DeliveredEvent<Payload>[],
) => Promise<AfterCommit | void>;

/** Processes events as a step of the trace of each. */
const inSpans = <Result>(
  { name }: EventType,
  events: readonly Pick<DeliveredEvent, 'traceparent'>[],
  work: () => Promise<Result>,
): Promise<Result> =>
  events.reduce(
    (inner, { traceparent }) =>
      () =>
        inSpan({ name: `apply ${name}`, kind: SpanKind.CONSUMER, traceparent }, inner),
    work,
  )();

/** A subscription whose handler is given one event after the other, with the payload that the catalogue of events promises. */
export const subscription = <E extends EventType, Tx>(
  type: E,
  handle: (tx: Tx, event: DeliveredEvent<PayloadOf<E>>) => Promise<AfterCommit | void>,
): Subscription<Tx> => ({
  type,
  handle: async (tx: Tx, _tenantId: string, events: readonly DeliveredEvent<PayloadOf<E>>[]) => {
    const afterCommit: (AfterCommit | void)[] = [];
    for (const event of events) afterCommit.push(await inSpans(type, [event], async () => handle(tx, event)));
    return () => afterCommit.forEach((act) => act?.());
  },
});

/** The same for a handler that is given all events at once that share a transaction, for which it needs fewer statements. */
export const subscriptionOfMany = <E extends EventType, Tx>(
  type: E,
  handle: HandleMany<Tx, PayloadOf<E>>,
): Subscription<Tx> => ({
  type,
  handle: (tx: Tx, tenantId: string, events: readonly DeliveredEvent<PayloadOf<E>>[]) =>
    inSpans(type, events, () => handle(tx, tenantId, events)),
});
