import { Readable } from 'node:stream';
import type { Api } from '@plinth/conventions/api';
import { file, noContent } from '@plinth/conventions/reply';
import {
  downloadCorrectionFile,
  fileTypes,
  getImportReport,
} from '@plinth/contracts/data-exchange/endpoints';
import { REPORT_ROW_ERRORS_MAX, type ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { Deps } from '../compose';
import { requirePermission } from '../domain/definition';
import { inWordsOf, type RowTexts } from '../domain/failed-row';
import { requireRun } from '../domain/import-job';
import { correctionFile, correctionWorkbook } from '../formats/correction-file';
import { encodeText } from '../formats/text-stream';
import type { ImportJob, ImportStore, StoredFailedRow } from '../store/import-store';
import { toReport } from './import-response';

const ROWS_AT_ONCE = 1_000;

export function mountImportResults(
  api: Api,
  { imports, rowTexts }: Pick<Deps, 'imports' | 'rowTexts'>,
): void {
  const endedJob = async (caller: Caller, jobId: string) => {
    const job = await imports.get(caller.tenantId, jobId);
    requirePermission(caller, job.permission);
    requireRun('read its report', job);
    return job;
  };

  api.on(getImportReport, async ({ params, caller, request }) => {
    const job = await endedJob(caller, params.jobId);
    const texts = await rowTexts.of(caller, request);
    const rows = await imports.failedRows(job.tenantId, job.id, 0, REPORT_ROW_ERRORS_MAX);
    const rowErrors = rows.map((row) => inWordsOf(row, texts));
    const duration =
      job.executedAt && job.completedAt ? job.completedAt.getTime() - job.executedAt.getTime() : 0;
    return toReport(job.id, job.status as ImportJobStatus, job, duration, rowErrors, job.errorMessage);
  });

  api.on(downloadCorrectionFile, async ({ params, caller, request }) => {
    const job = await endedJob(caller, params.jobId);
    const [first] = await imports.failedRows(job.tenantId, job.id, 0, 1);
    if (!first) return noContent();
    const { format } = job;
    const rows = failedRows(imports, job, await rowTexts.of(caller, request));
    if (format.kind === 'xlsx') {
      return file({
        content: Readable.from(correctionWorkbook(job.headers ?? [], rows), { objectMode: false }),
        name: correctionFileName(job.originalFileName, 'xlsx'),
        type: fileTypes.xlsx,
      });
    }
    const text = correctionFile(job.headers ?? [], format, rows);
    const isTabbed = format.delimiter === '\t';
    return file({
      content: Readable.from(text).pipe(encodeText(format)),
      name: correctionFileName(job.originalFileName, isTabbed ? 'tsv' : 'csv'),
      type: isTabbed ? fileTypes.tsv : fileTypes.csv,
    });
  });
}

async function* failedRows(
  imports: ImportStore,
  { tenantId, id }: ImportJob,
  texts: RowTexts,
): AsyncGenerator<StoredFailedRow[]> {
  let after = 0;
  for (;;) {
    const rows = await imports.failedRows(tenantId, id, after, ROWS_AT_ONCE);
    if (rows.length === 0) return;
    yield rows.map((row) => inWordsOf(row, texts));
    after = rows.at(-1)!.rowNumber;
  }
}

const correctionFileName = (uploaded: string, extension: string): string =>
  `${uploaded.replace(/\.[^.]{1,5}$/, '')}_errors.${extension}`;
