import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { problemOfGrpc } from '@plinth/runtime/grpc';

/** What an owner of data streams, message by message; whoever reads slowly slows it down. */
export async function* receive<Message>(
  { area, signal }: { area: string; signal: AbortSignal },
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
    throw error instanceof Error && 'metadata' in error ? problemOfGrpc(error as ServiceError, area) : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    call.cancel();
  }
}
