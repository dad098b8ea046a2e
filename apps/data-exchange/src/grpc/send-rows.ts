import { once } from 'node:events';
import type { ServiceError } from '@grpc/grpc-js';
import type { Caller } from '@plinth/kernel/caller';
import { unavailable } from '@plinth/kernel/problem';
import type { ImportAnswer__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportAnswer';
import type { StartImport } from '@plinth/proto/generated/plinth/exchange/v1/StartImport';
import { problemOfGrpc } from '@plinth/runtime/grpc';
import type { FailedRow } from '../domain/failed-row';
import type { RowBatch } from '../formats/row-batches';
import type { Duplicate, RowKey } from '../store/key-store';
import type { Owner } from './owners';

export type Commit = 'EACH_BATCH' | 'ALL_OR_NOTHING' | 'NEVER' | 'READ_KEYS';

/** What became of one batch. */
export interface SentBatch {
  batch: RowBatch;
  inserted: number;
  updated: number;
  skipped: number;
  failures: FailedRow[];
  /** Where keys were asked for. */
  keys: RowKey[];
}

export interface SendOptions {
  owner: Owner;
  area: string;
  caller: Caller;
  start: StartImport & { commit: Commit };
  batches: AsyncIterable<RowBatch>;
  /** Rows of a batch whose key stands in an earlier row, where that is known. */
  duplicatesOf?: ((batch: RowBatch) => Promise<Duplicate[]>) | undefined;
  /** Takes each result in order; answers false to send no more. */
  onResult(sent: SentBatch): Promise<boolean>;
  signal: AbortSignal;
}

/** `sealed`: the owner takes no more of this job. */
export type SendEnd = 'sent' | 'stopped' | 'sealed';

/** What is under way: enough that file, owner and database work at the same time, little enough to stay small. */
const BATCHES_UNDER_WAY_MAX = 4;
const BYTES_UNDER_WAY_MAX = 2_000_000;

/**
 * Sends batches to the owner of the data and takes their results.
 * A batch counts when its result came; whoever sends it again after a break is answered the same.
 */
export async function sendRows({
  owner,
  area,
  caller,
  start,
  batches,
  duplicatesOf,
  onResult,
  signal,
}: SendOptions): Promise<SendEnd> {
  signal.throwIfAborted();
  const call = owner.client.Import(owner.identity('Import', caller));
  // Failures are taken by whoever reads the call; one that comes after that is nobody's business.
  call.on('error', () => undefined);
  const cancel = () => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });

  const underWay: RowBatch[] = [];
  const isFull = (): boolean =>
    underWay.length >= BATCHES_UNDER_WAY_MAX ||
    underWay.reduce((bytes, { payload }) => bytes + payload.length, 0) >= BYTES_UNDER_WAY_MAX;
  const state: { end: SendEnd } = { end: 'sent' };
  let step = Promise.withResolvers<void>();

  const takeResult = async ({ result }: ImportAnswer__Output): Promise<void> => {
    if (!result || state.end === 'sealed') return;
    if (result.sealed) state.end = 'sealed';
    else {
      const batch = underWay[0]!;
      const told = JSON.parse(result.failures.toString()) as FailedRow[];
      const failures = [...batch.localFailures, ...told].sort(
        (left, right) => left.rowNumber - right.rowNumber,
      );
      const { inserted, updated, skipped } = result;
      const keys = result.keys.length === 0 ? [] : (JSON.parse(result.keys.toString()) as RowKey[]);
      if (!(await onResult({ batch, inserted, updated, skipped, failures, keys }))) state.end = 'stopped';
      underWay.shift();
    }
    step.resolve();
    step = Promise.withResolvers();
  };
  const receive = async (): Promise<void> => {
    for await (const answer of call as AsyncIterable<ImportAnswer__Output>) {
      if (answer.ended) return;
      await takeResult(answer);
    }
    throw unavailable(`The area ${area} broke off; try again.`);
  };
  const received = receive();
  const failure = received.then(() => new Promise<never>(() => undefined));
  failure.catch(() => undefined);
  const unlessItFails = <Result>(promise: Promise<Result>): Promise<Result> =>
    Promise.race([promise, failure]);

  const write = async (message: object): Promise<void> => {
    if (!call.write(message)) await unlessItFails(once(call, 'drain'));
  };
  /** What is under way may be committed already, so it is waited for, unless nothing of it stays anyway. */
  const isSettled = (): boolean =>
    underWay.length === 0 ||
    state.end === 'sealed' ||
    (state.end === 'stopped' && start.commit !== 'EACH_BATCH');

  try {
    await write({ start });
    for await (const batch of batches) {
      while (isFull() && state.end === 'sent') await unlessItFails(step.promise);
      if (state.end !== 'sent') break;
      underWay.push(batch);
      const duplicates = Buffer.from(duplicatesOf ? JSON.stringify(await duplicatesOf(batch)) : '');
      await write({ batch: { number: batch.number, rows: batch.payload, duplicates } });
    }
    while (!isSettled()) await unlessItFails(step.promise);
    if (state.end === 'sent') {
      await write({ end: {} });
      await received;
    }
    return state.end;
  } catch (error) {
    signal.throwIfAborted();
    throw isServiceError(error) ? problemOfGrpc(error, area) : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    call.cancel();
  }
}

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && 'metadata' in error;
