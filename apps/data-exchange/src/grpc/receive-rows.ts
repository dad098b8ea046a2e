import type { Caller } from '@plinth/kernel/caller';
import { unavailable } from '@plinth/kernel/problem';
import type { ExportRequest } from '@plinth/proto/generated/plinth/exchange/v1/ExportRequest';
import type { ExportRows__Output } from '@plinth/proto/generated/plinth/exchange/v1/ExportRows';
import { LINE_FEED } from '@plinth/exchange/export/copy-text';
import type { Owner } from './owners';
import { receive } from './receive';

/** Receives rows from the service that owns them, in whole lines as `COPY` writes them. */
export async function* receiveRows(
  { owner, caller, ...from }: { owner: Owner; service: string; caller: Caller; signal: AbortSignal },
  request: ExportRequest,
): AsyncGenerator<Buffer> {
  const open = () => owner.client.Export(request, owner.identity('Export', caller));
  for await (const { lines } of receive<ExportRows__Output>(from, open)) {
    // Rows in the format of another version must not become a file that lacks rows.
    if (lines.at(-1) !== LINE_FEED)
      throw unavailable(`The ${from.service} service sends rows that cannot be read; try again.`);
    yield lines;
  }
}
