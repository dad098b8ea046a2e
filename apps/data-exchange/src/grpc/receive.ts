import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { problemOfGrpc } from '@plinth/runtime/rpc/grpc';

/** Receives what a data owner streams, message by message; a slow reader slows it down. */
export async function* receive<Message>(
  { service, signal }: { service: string; signal: AbortSignal },
  open: () => ClientReadableStream<Message>,
): AsyncGenerator<Message> {
  signal.throwIfAborted();
  const call = open();
  const cancel = () => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    yield* call as AsyncIterable<Message>;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Error && 'metadata' in error
      ? problemOfGrpc(error as ServiceError, service)
      : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    call.cancel();
  }
}
