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
  /**
   * Its events are processed together, behind all others of their transaction. For one that locks rows of other subjects
   * than its own, which it can then lock in one order. At most one of a service.
   */
  isLast?: boolean;
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
  events: readonly Pick<DeliveredEvent, 'name' | 'traceparent'>[],
  work: () => Promise<Result>,
): Promise<Result> =>
  events.reduce(
    (inner, { name, traceparent }) =>
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
    for (const event of events) afterCommit.push(await inSpans([event], async () => handle(tx, event)));
    return () => afterCommit.forEach((act) => act?.());
  },
});

/** The same for a handler that is given all events at once that share a transaction, for which it needs fewer statements. */
export const subscriptionOfMany = <E extends EventType, Tx>(
  type: E,
  handle: HandleMany<Tx, PayloadOf<E>>,
  options: Pick<Subscription<Tx>, 'isLast'> = {},
): Subscription<Tx> => ({
  ...options,
  type,
  handle: (tx: Tx, tenantId: string, events: readonly DeliveredEvent<PayloadOf<E>>[]) =>
    inSpans(events, () => handle(tx, tenantId, events)),
});

/** What a handler of events of several types is given of each event of one of them. */
export interface EventReader<Read> {
  type: EventType;
  read: (event: DeliveredEvent<never>) => Read;
}

export const reading = <E extends EventType, Read>(
  type: E,
  read: (event: DeliveredEvent<PayloadOf<E>>) => Read,
): EventReader<Read> => ({ type, read });

/**
 * Subscriptions to events of several types with one handler, which is given those that follow each other in a transaction
 * at once, whatever their types. For one that locks other rows than those of its subjects, and does so in one order.
 */
export function subscriptionsOfOneHandler<Read, Tx>(
  readers: readonly EventReader<Read>[],
  handle: (tx: Tx, tenantId: string, read: readonly Read[]) => Promise<AfterCommit | void>,
): Subscription<Tx>[] {
  const readerOf = new Map(readers.map(({ type, read }) => [type.name, read]));
  const together: HandleMany<Tx, never> = (tx, tenantId, events) =>
    inSpans(events, () =>
      handle(
        tx,
        tenantId,
        events.map((event) => readerOf.get(event.name)!(event)),
      ),
    );
  return readers.map(({ type }) => ({ type, handle: together }));
}
