import { once, type EventEmitter } from 'node:events';
import type { Metadata } from '@grpc/grpc-js';
import { Problem } from '@plinth/kernel/problem';

/** A call whose response is a stream of messages. */
export interface StreamedCall<Message> extends EventEmitter {
  cancelled: boolean;
  metadata: Metadata;
  getPath(): string;
  write(message: Message): boolean;
  end(): unknown;
}

/** Aborted when the client disconnects. */
export function signalOf(call: StreamedCall<never>): AbortSignal {
  const abort = new AbortController();
  if (call.cancelled) abort.abort(disconnected());
  call.once('cancelled', () => abort.abort(disconnected()));
  return abort.signal;
}

/** Sends one message and waits while the client reads more slowly; fails when the client has disconnected. */
export async function sendMessage<Message>(call: StreamedCall<Message>, message: Message): Promise<void> {
  if (call.cancelled) throw disconnected();
  if (call.write(message)) return;
  const abort = new AbortController();
  const cancel = () => abort.abort();
  call.once('cancelled', cancel);
  try {
    await once(call, 'drain', { signal: abort.signal });
  } catch (error) {
    throw disconnected(error);
  } finally {
    call.off('cancelled', cancel);
  }
}

/** The problem of a call whose client has left. */
export const disconnected = (cause?: unknown) =>
  new Problem('timed-out', 'The client disconnected.', { cause });
