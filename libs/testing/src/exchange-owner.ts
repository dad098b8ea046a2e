import type { ServiceError } from '@grpc/grpc-js';
import { copiedRows, readCopiedRow } from '@plinth/exchange/export/copy-text';
import type { FailedRow } from '@plinth/exchange/row-error';
import type { UndoneWrite } from '@plinth/exchange/undo/undo-import';
import type { Caller } from '@plinth/kernel/caller';
import { guard, unguard } from '@plinth/kernel/formula-guard';
import { newId } from '@plinth/kernel/uuid';
import { protoPackages } from '@plinth/proto/packages';
import type { BatchResult__Output } from '@plinth/proto/generated/plinth/exchange/v1/BatchResult';
import type { ExportRows__Output } from '@plinth/proto/generated/plinth/exchange/v1/ExportRows';
import type { ImportResponse__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportResponse';
import type { UndoneWrite__Output } from '@plinth/proto/generated/plinth/exchange/v1/UndoneWrite';
import type { StartImport } from '@plinth/proto/generated/plinth/exchange/v1/StartImport';
import { problemOfGrpc, serveGrpc, serviceClient, type GrpcService } from '@plinth/runtime/rpc/grpc';
import { TEST_KEYS } from './http';

/** The result of a batch with its failed rows. */
export type OwnerResult = Omit<BatchResult__Output, 'failures'> & { failures: FailedRow[] };

/** Texts that files, formulas, encodings or words for nothing could change on their way. */
export const awkwardTexts: readonly string[] = [
  '=1+1',
  "'=1+1",
  "''",
  '-5',
  '-5;=1',
  '@a\t=b',
  '="007"',
  ' leading and trailing ',
  '"quoted", and "" so',
  'two\r\nlines\rand\na third',
  '\\N',
  'NULL',
  'n/a',
  '-',
  '007',
  '1.234,50 €',
  '2026-02-30',
  'Total',
  '_x000D_',
  'e\u0301 \u00e9 \u{1f600} \u202eabc',
  '\ufeffx\u00a0\u2028',
  '\u0001\u001f',
];

/** Serves a data owner on a free port, with a client that calls it as data exchange does. */
export async function openExchangeOwner(services: readonly GrpcService[]) {
  const { port, close } = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, services);
  const owner = serviceClient(
    'owner',
    protoPackages.exchange.v1.ExchangeOwner,
    `127.0.0.1:${port}`,
    TEST_KEYS,
  );
  const { client, identity } = owner;

  const opened = {
    ...owner,
    port,
    close: async () => {
      await owner.close();
      await close();
    },

    /** Imports into the tenant of the one caller what the other exports, with its cells as a text file has them; returns the rows that failed. */
    copyRows: async (
      from: Caller,
      to: Caller,
      start: StartImport & { definition: string; columns: string[] },
    ): Promise<FailedRow[]> => {
      const rows = await opened.exportRows(from, { definition: start.definition, fields: start.columns });
      const cellsOf = (row: unknown[]) => row.map((cell) => unguard(guard((cell as string | null) ?? '')));
      const { results } = await opened.importRows(to, start, [
        rows.map((row, index) => [index + 2, ...cellsOf(row)]),
      ]);
      return results.flatMap(({ failures }) => failures);
    },

    /** All selected rows. */
    exportRows: (
      caller: Caller,
      request: { definition: string; fields: string[]; includeId?: boolean; selection?: object },
    ): Promise<unknown[][]> =>
      new Promise((resolve, reject) => {
        const rows: unknown[][] = [];
        const call = client.Export(
          { ...request, selection: JSON.stringify(request.selection ?? {}) },
          identity('Export', caller),
        );
        call.on('data', ({ lines }: ExportRows__Output) => {
          for (const copied of copiedRows(lines)) rows.push(...copied.map(readCopiedRow));
        });
        call.on('error', (error: Error) => reject(problemOfGrpc(error as ServiceError, 'owner')));
        call.on('end', () => resolve(rows));
      }),

    /** Seals a job and undoes the writes before `after`; returns what became of each, the last one first. */
    undoImport: async (
      caller: Caller,
      request: { definition: string; jobId: string; after?: number },
    ): Promise<UndoneWrite[]> => {
      await owner.call('SealImport', { jobId: request.jobId, range: 0 }, caller);
      const call = client.UndoImport(request, identity('UndoImport', caller));
      try {
        const writes: UndoneWrite[] = [];
        for await (const write of call as AsyncIterable<UndoneWrite__Output>)
          writes.push({ ...write, kept: JSON.parse(write.kept.toString()) as UndoneWrite['kept'] });
        return writes;
      } catch (error) {
        throw problemOfGrpc(error as ServiceError, 'owner');
      }
    },

    /** Sends batches, numbered from `firstBatch`; without `end` the stream is closed as by a worker that crashed. */
    importRows: (
      caller: Caller,
      start: StartImport,
      batches: readonly (readonly unknown[][])[],
      options: { firstBatch?: number; end?: boolean } = {},
    ): Promise<{
      jobId: string;
      lastBatch: number;
      results: OwnerResult[];
      committed: boolean | undefined;
    }> =>
      new Promise((resolve, reject) => {
        const jobId = start.jobId ?? newId();
        const responses: ImportResponse__Output[] = [];
        const call = client.Import(identity('Import', caller));
        const finish = () =>
          resolve({
            jobId,
            lastBatch: responses.find(({ started }) => started)?.started?.lastBatch ?? -1,
            results: responses.flatMap(({ result }) =>
              result ? [{ ...result, failures: JSON.parse(result.failures.toString()) as FailedRow[] }] : [],
            ),
            committed: responses.find(({ ended }) => ended)?.ended?.committed,
          });
        call.on('data', (response: ImportResponse__Output) => {
          responses.push(response);
          const isLast = responses.filter(({ result }) => result).length === batches.length;
          if (isLast && options.end === false) call.cancel();
        });
        call.on('error', (error: Error) =>
          options.end === false ? finish() : reject(problemOfGrpc(error as ServiceError, 'owner')),
        );
        call.on('end', finish);
        call.write({ start: { ...start, jobId } });
        for (const [index, rows] of batches.entries()) {
          const number = (options.firstBatch ?? 1) + index;
          call.write({ batch: { number, rows: Buffer.from(JSON.stringify(rows)) } });
        }
        if (options.end !== false) call.write({ end: {} });
      }),
  };
  return opened;
}

export type ExchangeOwner = Awaited<ReturnType<typeof openExchangeOwner>>;
