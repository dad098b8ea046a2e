import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { BatchResult } from '@plinth/proto/generated/plinth/exchange/v1/BatchResult';
import type { ImportResponse } from '@plinth/proto/generated/plinth/exchange/v1/ImportResponse';
import type { ImportBatch__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportBatch';
import type { ImportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportRequest';
import { sendMessage } from '@plinth/runtime/rpc/streamed-call';
import { groupByRow, type FailedRow } from '../row-error';
import type { Batch, BatchOutcome } from './batch';
import type { RawRow } from './convert-rows';
import { ROW_SEPARATOR, rowsOfJson, stepsByLength, type InTurns } from '../in-turns';
import type { ImportSession } from './import-session';

/**
 * Applies the batches of a call one after the other. The cells of a batch are read while the database writes the rows of
 * the one before: sooner, the answers to the statements before those rows would wait for them. A batch begins when all
 * that is left of the one before is its commit, which waits for the disk.
 * @param acceptsParts whether the client puts a result together that comes in parts
 * @param inTurns how steps of a batch are taken that others need not wait for
 */
export async function receiveBatches(
  call: ServerDuplexStream<ImportRequest__Output, ImportResponse>,
  messages: AsyncIterator<ImportRequest__Output>,
  session: ImportSession,
  { acceptsParts, inTurns }: { acceptsParts: boolean; inTurns: InTurns },
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
      const batch = await inTurns(readBatch(message.batch));
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
        sendResult(call, { number: batch.number, outcome, acceptsParts, inTurns }),
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

function* readBatch({ number, rows, duplicates }: ImportBatch__Output): Generator<void, Batch> {
  return {
    number,
    rows: yield* rowsOfJson<RawRow>(rows.toString()),
    duplicates: duplicates.length === 0 ? [] : (JSON.parse(duplicates.toString()) as [number, number][]),
  };
}

/** A file whose columns are shifted has an error in each of its cells, which together take many times what was sent. */
const PART_LENGTH = 1_000_000;

interface ResultToSend {
  number: number;
  outcome: BatchOutcome | 'sealed';
  acceptsParts: boolean;
  inTurns: InTurns;
}

/** Sends a result in as many messages as it takes, each made when the one before is sent. */
async function sendResult(
  call: ServerDuplexStream<ImportRequest__Output, ImportResponse>,
  { number, outcome, acceptsParts, inTurns }: ResultToSend,
): Promise<void> {
  const send = (result: BatchResult) => sendMessage(call, { result });
  if (outcome === 'sealed') return send({ number, sealed: true, failures: Buffer.from('[]') });
  const { errors, keys, ...counts } = outcome;
  const rows = await inTurns(groupByRow(errors));
  const lengthMax = acceptsParts ? PART_LENGTH : Infinity;
  let part = await inTurns(partOf(rows, 0, lengthMax));
  while (part.next < rows.length) {
    await send({ number, failures: part.failures, moreFollows: true });
    part = await inTurns(partOf(rows, part.next, lengthMax));
  }
  await send({
    ...counts,
    number,
    failures: part.failures,
    keys: Buffer.from(keys ? JSON.stringify(keys) : ''),
  });
}

/** Failed rows from one on as JSON, up to a length, and which of them is next; written in steps. */
function* partOf(
  rows: readonly FailedRow[],
  first: number,
  lengthMax: number,
): Generator<void, { failures: Buffer; next: number }> {
  const lines: string[] = [];
  const endsStep = stepsByLength();
  let next = first;
  for (let length = 0; next < rows.length && length < lengthMax; next++) {
    const line = JSON.stringify(rows[next]);
    lines.push(line);
    length += line.length;
    if (endsStep(line)) yield;
  }
  return { failures: Buffer.from(`[${lines.join(ROW_SEPARATOR)}]`), next };
}
