import type { EventEnvelope } from '@plinth/kernel/event';

/** An event as it was delivered, or taken from those that wait for the turn of their tenant. */
export interface Delivery {
  event: EventEnvelope;
  bytes: number;
  /** How often it was tried, this time included. */
  deliveryCount: number;
  /** It is processed. */
  ack: () => void;
  /** It is to be tried again later. */
  nak: (milliseconds: number) => void | Promise<void>;
  /** It is not to be tried again. */
  term: (reason: string) => void | Promise<void>;
}

/** Removes events from where they waited, in the transaction that processes them; false where others have their turn. */
export type TakeFrom<Tx> = (tx: Tx, events: readonly EventEnvelope[]) => Promise<boolean>;
