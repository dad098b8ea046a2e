import type { QueryOf } from '@plinth/contracts/endpoint';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import { REPORT_ROW_ERRORS_MAX, type ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import type { Api } from '@plinth/http/api';
import { file, noContent, okJson } from '@plinth/http/response';
import type { Caller } from '@plinth/kernel/caller';
import { jsonPieces } from '@plinth/kernel/json-pieces';
import { openCorrectionFile } from '../app/open-correction-file';
import type { Deps } from '../compose';
import { requireSight } from '../domain/definition';
import { importRowsExpired } from '../domain/problems';
import { REPORT_BYTES_MAX } from '../domain/failed-row';
import { requireRun } from '../domain/import-job';
import type { MessageTexts } from '../domain/message-texts';
import type { ImportJob } from '../store/import-store';
import { toReport } from './import-report-response';

const { downloadCorrectionFile, getImportReport } = dataExchangeEndpoints;

type ReportQuery = QueryOf<typeof getImportReport>;

type Needs = Pick<
  Deps,
  'imports' | 'failedRows' | 'messageTexts' | 'correctionFiles' | 'reportPlaces' | 'turns'
>;

export function mountImportResults(api: Api, needs: Needs): void {
  const { imports, failedRows, messageTexts, correctionFiles: places, reportPlaces, turns } = needs;
  const endedJob = async (caller: Caller, jobId: string) => {
    const job = await imports.get(caller.tenantId, jobId);
    requireSight(caller, job);
    requireRun('read its report', job);
    return job;
  };

  /** The JSON of a report: as objects it takes three times the memory, until the response is written. */
  const reportOf = async (job: ImportJob, texts: MessageTexts, query: ReportQuery, caller: Caller) => {
    const withCells = query.includeCells === 'true';
    const rows = await failedRows.list(job.tenantId, job.id, {
      after: 0,
      take: REPORT_ROW_ERRORS_MAX,
      bytesMax: REPORT_BYTES_MAX,
      withCells,
    });
    const groups = query.includeGroups === 'true' ? await failedRows.groups(job.tenantId, job.id) : undefined;
    const report = toReport({
      importJobId: job.id,
      finalStatus: job.status as ImportJobStatus,
      counts: job,
      milliseconds:
        job.executedAt && job.completedAt ? job.completedAt.getTime() - job.executedAt.getTime() : 0,
      failedRows: rows,
      texts,
      errorMessage: job.errorMessage,
      headers: withCells ? (job.headers ?? []) : undefined,
      groups,
    });
    return turns.takeEach(caller, piecesOf(report));
  };

  api.on(getImportReport, async ({ params, query, caller, request, signal }) => {
    const job = await endedJob(caller, params.jobId);
    const texts = await messageTexts.of(caller, request);
    return okJson(await reportPlaces.run(caller, () => reportOf(job, texts, query, caller), signal));
  });

  api.on(downloadCorrectionFile, async ({ params, caller, request, signal }) => {
    const job = await endedJob(caller, params.jobId);
    if (job.rowsRemovedAt !== null && job.failedRows > 0) throw importRowsExpired();
    const texts = await messageTexts.of(caller, request);
    const correction = await openCorrectionFile(failedRows, job, texts, {
      owner: caller,
      places,
      turns,
      signal,
    });
    return correction ? file(correction) : noContent();
  });
}

function* piecesOf(report: ReturnType<typeof toReport>) {
  const pieces: string[] = [];
  for (const piece of jsonPieces(yield* report)) {
    pieces.push(piece);
    yield;
  }
  return pieces;
}
