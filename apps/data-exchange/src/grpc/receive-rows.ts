import type { Caller } from '@plinth/kernel/caller';
import type { ExportRequest } from '@plinth/proto/generated/plinth/exchange/v1/ExportRequest';
import type { ExportRows__Output } from '@plinth/proto/generated/plinth/exchange/v1/ExportRows';
import type { Owner } from './owners';
import { receive } from './receive';

/** Streams rows out of the service that owns them, in whole lines as `COPY` writes them. */
export async function* receiveRows(
  { owner, caller, ...from }: { owner: Owner; area: string; caller: Caller; signal: AbortSignal },
  request: ExportRequest,
): AsyncGenerator<Buffer> {
  const open = () => owner.client.Export(request, owner.identity('Export', caller));
  for await (const { lines } of receive<ExportRows__Output>(from, open)) yield lines;
}
