import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import { REPORT_ROW_ERRORS_MAX, type ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import type { Api } from '@plinth/http/api';
import { file, noContent } from '@plinth/http/response';
import type { Caller } from '@plinth/kernel/caller';
import { openCorrectionFile } from '../app/open-correction-file';
import type { Deps } from '../compose';
import { requirePermission } from '../domain/definition';
import { importRowsExpired } from '../domain/problems';
import { localizeGroups } from '../domain/error-groups';
import { localize, REPORT_BYTES_MAX } from '../domain/failed-row';
import { requireRun } from '../domain/import-job';
import { toReport } from './import-report-response';

const { downloadCorrectionFile, getImportReport } = dataExchangeEndpoints;

type Needs = Pick<Deps, 'imports' | 'failedRows' | 'messageTexts' | 'correctionFiles'>;

export function mountImportResults(api: Api, needs: Needs): void {
  const { imports, failedRows, messageTexts, correctionFiles: places } = needs;
  const endedJob = async (caller: Caller, jobId: string) => {
    const job = await imports.get(caller.tenantId, jobId);
    requirePermission(caller, job.permission);
    requireRun('read its report', job);
    return job;
  };

  api.on(getImportReport, async ({ params, query, caller, request }) => {
    const job = await endedJob(caller, params.jobId);
    const texts = await messageTexts.of(caller, request);
    const withCells = query.includeCells === 'true';
    const rows = await failedRows.list(job.tenantId, job.id, {
      after: 0,
      take: REPORT_ROW_ERRORS_MAX,
      bytesMax: REPORT_BYTES_MAX,
      withCells,
    });
    const groups = query.includeGroups === 'true' ? await failedRows.groups(job.tenantId, job.id) : undefined;
    return toReport({
      importJobId: job.id,
      finalStatus: job.status as ImportJobStatus,
      counts: job,
      milliseconds:
        job.executedAt && job.completedAt ? job.completedAt.getTime() - job.executedAt.getTime() : 0,
      failedRows: rows.map((row) => localize(row, texts)),
      errorMessage: job.errorMessage,
      headers: withCells ? (job.headers ?? []) : undefined,
      groups: groups && localizeGroups(groups, texts),
    });
  });

  api.on(downloadCorrectionFile, async ({ params, caller, request, signal }) => {
    const job = await endedJob(caller, params.jobId);
    if (job.rowsRemovedAt !== null && job.failedRows > 0) throw importRowsExpired();
    const texts = await messageTexts.of(caller, request);
    const correction = await openCorrectionFile(failedRows, job, texts, { owner: caller, places, signal });
    return correction ? file(correction) : noContent();
  });
}
