import { setImmediate as nextTurn } from 'node:timers/promises';
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
 * the one before: sooner, the answers to the statements before those rows would wait for them. A batch begins when all
 * that is left of the one before is its commit, which waits for the disk.
 * @param acceptsParts whether the client puts a result together that comes in parts
 */
export async function receiveBatches(
  call: ServerDuplexStream<ImportRequest__Output, ImportAnswer>,
  messages: AsyncIterator<ImportRequest__Output>,
  session: ImportSession,
  acceptsParts: boolean,
): Promise<void> {
  let applied: Promise<unknown> | undefined;
  let answered: Promise<unknown> = Promise.resolve();
  let [sent, written] = [answered, answered];
  const nextUnlessFailed = async () => {
    const next = messages.next();
    // Who waits for the answer to its last batch sends nothing before it. A promise for all of the call would keep its messages.
    return Promise.race([next, Promise.all([next, answered]).then(() => next)]);
  };
  // Not `for await`: leaving it would destroy the call, and with it the response.
  for (let next = await nextUnlessFailed(); !next.done && !call.cancelled; next = await nextUnlessFailed()) {
    const message = next.value;
    if (message.batch) {
      await sent;
      const batch = readBatch(message.batch);
      const prepared = await session.prepare(batch);
      await written;
      const [sending, writing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const applying = session.apply(batch, prepared, {
        before: applied,
        onSent: sending.resolve,
        onWritten: writing.resolve,
      });
      applied = applying;
      sent = Promise.race([sending.promise, applying]);
      // A client that does not read its answers gets no more than two ahead.
      written = Promise.all([Promise.race([writing.promise, applying]), answered]);
      answered = Promise.all([applying, answered]).then(([outcome]) =>
        sendResult(call, toParts(batch.number, outcome, acceptsParts)),
      );
      // They are awaited before the next batches; until then their rejection is not unhandled.
      for (const one of [applied, sent, written, answered]) one.catch(() => undefined);
    } else if (message.end) {
      await answered;
      await sendMessage(call, { ended: { committed: await session.end() } });
      return;
    }
  }
  await answered;
}

const readBatch = ({ number, rows, duplicates }: ImportBatch__Output): Batch => ({
  number,
  rows: JSON.parse(rows.toString()) as RawRow[],
  duplicates: duplicates.length === 0 ? [] : (JSON.parse(duplicates.toString()) as [number, number][]),
});

async function sendResult(
  call: ServerDuplexStream<ImportRequest__Output, ImportAnswer>,
  parts: Iterable<BatchResult>,
): Promise<void> {
  for (const result of parts) {
    await sendMessage(call, { result });
    if (result.moreFollows) await nextTurn();
  }
}

/** A file whose columns are shifted has an error in each of its cells, which together take many times what was sent. */
const PART_LENGTH = 1_000_000;

/** A result in the messages that it is sent as, each made when it is asked for. */
function* toParts(
  number: number,
  outcome: BatchOutcome | 'sealed',
  inParts: boolean,
): Generator<BatchResult> {
  if (outcome === 'sealed') return yield { number, sealed: true, failures: Buffer.from('[]') };
  const { errors, keys, ...counts } = outcome;
  let rows: string[] = [];
  let length = 0;
  const take = () => {
    const failures = Buffer.from(`[${rows.join()}]`);
    [rows, length] = [[], 0];
    return failures;
  };
  for (const row of groupByRow(errors)) {
    if (inParts && length >= PART_LENGTH) yield { number, failures: take(), moreFollows: true };
    const text = JSON.stringify(row);
    rows.push(text);
    length += text.length;
  }
  yield { ...counts, number, failures: take(), keys: Buffer.from(keys ? JSON.stringify(keys) : '') };
}
