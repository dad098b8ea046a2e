import type { ServiceError } from '@grpc/grpc-js';
import type { Caller } from '@plinth/kernel/caller';
import type { ExportRequest } from '@plinth/proto/generated/plinth/exchange/v1/ExportRequest';
import type { ExportRows__Output } from '@plinth/proto/generated/plinth/exchange/v1/ExportRows';
import { problemOfGrpc } from '@plinth/runtime/grpc';
import type { Cell } from '../formats/csv-writer';
import type { Owner } from './owners';

/** Streams rows out of the service that owns them; whoever reads slowly slows it down. */
export async function* receiveRows(
  { owner, area, caller, signal }: { owner: Owner; area: string; caller: Caller; signal: AbortSignal },
  request: ExportRequest,
): AsyncGenerator<Cell[][]> {
  signal.throwIfAborted();
  const call = owner.client.Export(request, owner.identity('Export', caller));
  const cancel = () => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for await (const message of call as AsyncIterable<ExportRows__Output>) {
      yield JSON.parse(message.rows.toString()) as Cell[][];
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Error && 'metadata' in error ? problemOfGrpc(error as ServiceError, area) : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    call.cancel();
  }
}
