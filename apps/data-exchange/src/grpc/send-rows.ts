import { once } from 'node:events';
import { rowsOfJson, type InTurns } from '@plinth/exchange/in-turns';
import type { FailedRow } from '@plinth/exchange/row-error';
import type { Caller } from '@plinth/kernel/caller';
import { unavailable } from '@plinth/kernel/problem';
import type { BatchResult__Output } from '@plinth/proto/generated/plinth/exchange/v1/BatchResult';
import type { Commit__Output } from '@plinth/proto/generated/plinth/exchange/v1/Commit';
import type { ImportResponse__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportResponse';
import type { StartImport } from '@plinth/proto/generated/plinth/exchange/v1/StartImport';
import { isServiceError, problemOfGrpc } from '@plinth/runtime/rpc/grpc';
import type { RowBatch } from '../formats/row-batches';
import type { Duplicate, RowKey } from '../store/key-store';
import type { Owner } from './owners';

/** A batch that was sent, and its result. */
export interface SentBatch {
  batch: RowBatch;
  inserted: number;
  updated: number;
  skipped: number;
  /** Where the import only reads keys. */
  keys: RowKey[];
}

export interface SendOptions {
  owner: Owner;
  service: string;
  caller: Caller;
  start: StartImport & { commit: Commit__Output };
  batches: AsyncIterable<RowBatch>;
  /** The duplicate keys of a batch, where they are known. */
  duplicatesOf?: ((batch: RowBatch) => Promise<Duplicate[]>) | undefined;
  /** How steps of a result are taken that others need not wait for. */
  inTurns: InTurns;
  /**
   * Receives the rows of a batch that its owner refused, in their order, as they come: all at once they may take tens of
   * megabytes. The last ones, which may be none, come before the result.
   */
  onRefused(batch: RowBatch, rows: readonly FailedRow[], isLast: boolean): Promise<void>;
  /** Receives each result in order; returns false to send no more. */
  onResult(sent: SentBatch): Promise<boolean>;
  signal: AbortSignal;
}

/** `sealed`: the owner accepts no more batches of this job. */
export type SendEnd = 'sent' | 'stopped' | 'sealed';

/** Sent batches without a result: enough that file, owner and database work at the same time, few enough for the memory. */
const BATCHES_IN_FLIGHT_MAX = 4;
const BYTES_IN_FLIGHT_MAX = 2_000_000;
const KEPT_IN_FLIGHT_MAX = 4_000_000;

/**
 * Sends batches to the data owner and receives their results.
 * A batch counts when its result was received; a batch that is sent again gets the same result.
 */
export async function sendRows(options: SendOptions): Promise<SendEnd> {
  const { owner, service, caller, signal } = options;
  signal.throwIfAborted();
  const call = owner.client.Import(owner.identity('Import', caller));
  // Errors reach the reader of the call; one that comes after the reader has ended is ignored.
  call.on('error', () => undefined);
  const cancel = () => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await new BatchSender(call, options).run();
  } catch (error) {
    signal.throwIfAborted();
    throw isServiceError(error) ? problemOfGrpc(error, service) : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    call.cancel();
  }
}

class BatchSender {
  private readonly inFlight: RowBatch[] = [];
  private end: SendEnd = 'sent';
  private progress = Promise.withResolvers<void>();
  private readonly received: Promise<void>;
  /** Rejects when receiving fails; never resolves. */
  private readonly failure: Promise<never>;

  constructor(
    private readonly call: ReturnType<Owner['client']['Import']>,
    private readonly options: SendOptions,
  ) {
    this.received = this.receiveResults();
    this.failure = this.received.then(() => new Promise<never>(() => undefined));
    this.failure.catch(() => undefined);
  }

  async run(): Promise<SendEnd> {
    await this.write({ start: { ...this.options.start, acceptsParts: true } });
    try {
      await this.sendBatches();
    } catch (error) {
      // Where the rest of the file cannot be read, what the owner has of it is committed all the same, and counted.
      if (this.end === 'sent') this.end = 'stopped';
      await this.settle();
      throw error;
    }
    await this.settle();
    if (this.end === 'sent') {
      await this.write({ end: {} });
      await this.received;
    }
    return this.end;
  }

  private async sendBatches(): Promise<void> {
    const { batches, duplicatesOf } = this.options;
    for await (const batch of batches) {
      while (this.isFull() && this.end === 'sent') await this.nextResult();
      if (this.end !== 'sent') return;
      const duplicates = Buffer.from(duplicatesOf ? JSON.stringify(await duplicatesOf(batch)) : '');
      this.inFlight.push(batch);
      await this.write({ batch: { number: batch.number, rows: batch.payload, duplicates } });
    }
  }

  private async settle(): Promise<void> {
    while (!this.isSettled()) await this.nextResult();
  }

  private async receiveResults(): Promise<void> {
    for await (const { result, ended } of this.call as AsyncIterable<ImportResponse__Output>) {
      if (ended) return;
      if (result && !this.isOver()) await this.receiveResult(result);
    }
    throw unavailable(`The ${this.options.service} service closed the connection; try again.`);
  }

  private async receiveResult(result: BatchResult__Output): Promise<void> {
    if (result.sealed) this.end = 'sealed';
    else {
      const [batch] = this.inFlight as [RowBatch];
      await this.receiveRefused(batch, result);
      if (result.moreFollows) return;
      const sent = toSentBatch(batch, result);
      if (!(await this.options.onResult(sent))) this.end = 'stopped';
      this.inFlight.shift();
    }
    this.progress.resolve();
    this.progress = Promise.withResolvers();
  }

  /** On its own, so that none of these rows is kept while others wait for the result to be counted. */
  private async receiveRefused(
    batch: RowBatch,
    { failures, moreFollows }: BatchResult__Output,
  ): Promise<void> {
    const { inTurns, onRefused } = this.options;
    const refused = await inTurns(rowsOfJson<FailedRow>(failures.toString()));
    await onRefused(batch, refused, !moreFollows);
  }

  private async write(message: object): Promise<void> {
    if (!this.call.write(message)) await this.orFailure(once(this.call, 'drain'));
  }

  private nextResult(): Promise<void> {
    return this.orFailure(this.progress.promise);
  }

  private orFailure<Result>(promise: Promise<Result>): Promise<Result> {
    return Promise.race([promise, this.failure]);
  }

  private isFull(): boolean {
    const sumOf = (measure: (batch: RowBatch) => number) =>
      this.inFlight.reduce((sum, batch) => sum + measure(batch), 0);
    return (
      this.inFlight.length >= BATCHES_IN_FLIGHT_MAX ||
      sumOf(({ payload }) => payload.length) >= BYTES_IN_FLIGHT_MAX ||
      sumOf(({ keptLength }) => keptLength) >= KEPT_IN_FLIGHT_MAX
    );
  }

  /** Batches in flight may be committed already, so their results are awaited, unless all are rolled back anyway. */
  private isSettled(): boolean {
    return this.inFlight.length === 0 || this.isOver();
  }

  /** Whether results that are still to come say nothing. They are read all the same, so that the owner takes what is sent. */
  private isOver(): boolean {
    return this.end === 'sealed' || (this.end === 'stopped' && this.options.start.commit !== 'EACH_BATCH');
  }
}

const toSentBatch = (
  batch: RowBatch,
  { inserted, updated, skipped, keys }: BatchResult__Output,
): SentBatch => ({
  batch,
  inserted,
  updated,
  skipped,
  keys: keys.length === 0 ? [] : (JSON.parse(keys.toString()) as RowKey[]),
});
