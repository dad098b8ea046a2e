import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { BatchResult } from '@plinth/proto/generated/plinth/exchange/v1/BatchResult';
import type { ImportAnswer } from '@plinth/proto/generated/plinth/exchange/v1/ImportAnswer';
import type { ImportBatch__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportBatch';
import type { ImportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportRequest';
import { sendMessage } from '@plinth/runtime/rpc/streamed-call';
import { groupByRow } from '../row-error';
import type { Batch, BatchOutcome } from './batch';
import type { RawRow } from './convert-rows';
import type { ImportSession } from './import-session';

/**
 * Applies the batches of a call one after the other. The cells of a batch are read while the database writes the rows of
 * the one before: sooner, the answers to the statements before those rows would wait for them.
 */
export async function receiveBatches(
  call: ServerDuplexStream<ImportRequest__Output, ImportAnswer>,
  messages: AsyncIterator<ImportRequest__Output>,
  session: ImportSession,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  let sent = writing;
  // Not `for await`: leaving it would destroy the call, and with it the response.
  for (let next = await messages.next(); !next.done && !call.cancelled; next = await messages.next()) {
    const message = next.value;
    if (message.batch) {
      await sent;
      const batch = readBatch(message.batch);
      const prepared = session.prepare(batch);
      await writing;
      const sending = Promise.withResolvers<void>();
      writing = session
        .apply(batch, prepared, sending.resolve)
        .then((outcome) => sendMessage(call, { result: toResult(batch.number, outcome) }));
      sent = Promise.race([sending.promise, writing]);
      // Both are awaited before the next batch; until then their rejection is not unhandled.
      for (const one of [writing, sent]) one.catch(() => undefined);
    } else if (message.end) {
      await writing;
      await sendMessage(call, { ended: { committed: await session.end() } });
      return;
    }
  }
  await writing;
}

const readBatch = ({ number, rows, duplicates }: ImportBatch__Output): Batch => ({
  number,
  rows: JSON.parse(rows.toString()) as RawRow[],
  duplicates: duplicates.length === 0 ? [] : (JSON.parse(duplicates.toString()) as [number, number][]),
});

function toResult(number: number, outcome: BatchOutcome | 'sealed'): BatchResult {
  if (outcome === 'sealed') return { number, sealed: true, failures: Buffer.from('[]') };
  const { errors, keys, ...counts } = outcome;
  return {
    ...counts,
    number,
    failures: Buffer.from(JSON.stringify(groupByRow(errors))),
    keys: Buffer.from(keys ? JSON.stringify(keys) : ''),
  };
}
