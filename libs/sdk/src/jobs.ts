import type { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import type { ExchangeProgress } from '@plinth/contracts/data-exchange/shapes';
import type { z } from 'zod';
import type { ApiResponse, Wire } from './response';
import type { Client } from './client';
import type { ReceivedEvent } from './events';
import { waitFor } from './send';

type DataExchange = Client<typeof dataExchangeEndpoints>;
type StateOf<Call extends (...input: never[]) => Promise<ApiResponse<unknown>>> = Awaited<
  ReturnType<Call>
>['body'];

export type ExportJob = Job<StateOf<DataExchange['getExportJob']>>;
export type ImportJob = Job<StateOf<DataExchange['getImport']>>;

/** The progress of a job: `status`, `phase` of an export, `rowsDone`, `rowsFailed`, `rowsPerSecond`, `estimatedEndAt`. */
export type JobProgress = Wire<z.output<typeof ExchangeProgress>>;

export interface WaitOptions {
  /** Called whenever something has changed. */
  onProgress?: (progress: JobProgress) => void;
  signal?: AbortSignal;
}

/** Work that the platform continues in the background. */
export interface Job<State> {
  readonly id: string;
  read(): Promise<State>;
  /** Returns the last state when the job has ended; its `status` says whether it succeeded. */
  wait(options?: WaitOptions): Promise<State>;
  cancel(): Promise<void>;
}

/** The export that `createExportJob` started: `exportJob(dataExchange, body.id)`. */
export const exportJob = (exchange: DataExchange, id: string): ExportJob =>
  jobOf(id, {
    read: exchange.getExportJob,
    watch: exchange.watchExportJob,
    cancel: exchange.cancelExportJob,
  });

/** An import; wait for it after it was executed. */
export const importJob = (exchange: DataExchange, id: string): ImportJob =>
  jobOf(id, { read: exchange.getImport, watch: exchange.watchImport, cancel: exchange.cancelImport });

type JobCall<Body> = (input: {
  params: { jobId: string };
  signal?: AbortSignal | undefined;
}) => Promise<ApiResponse<Body>>;

interface JobCalls<State> {
  read: JobCall<State>;
  watch: JobCall<AsyncIterable<ReceivedEvent>>;
  cancel: JobCall<undefined>;
}

const RECONNECT_MILLISECONDS = 200;

function jobOf<State>(id: string, { read, watch, cancel }: JobCalls<State>): Job<State> {
  const params = { jobId: id };
  return {
    id,
    read: async () => (await read({ params })).body,
    async wait({ onProgress, signal } = {}) {
      for (;;) {
        const { body: events } = await watch({ params, signal });
        if (await followToEnd(events, onProgress, signal)) return (await read({ params, signal })).body;
        await waitFor(RECONNECT_MILLISECONDS, signal);
      }
    },
    async cancel() {
      await cancel({ params });
    },
  };
}

/** Whether the last event arrived; a stream may be cut off before that, such as when a service is replaced. */
async function followToEnd(
  events: AsyncIterable<ReceivedEvent>,
  onProgress: WaitOptions['onProgress'],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const stream = events[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await stream.next().catch((error: unknown) => {
        if (signal?.aborted) throw error;
        return undefined;
      });
      if (next === undefined || next.done) return false;
      onProgress?.(next.value.data as JobProgress);
      if (next.value.event === 'end') return true;
    }
  } finally {
    await stream.return?.();
  }
}
