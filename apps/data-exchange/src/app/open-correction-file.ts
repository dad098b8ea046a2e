import { Readable } from 'node:stream';
import { fileTypes } from '@plinth/contracts/data-exchange/endpoints';
import { localize, type FailedRowWithCells, type RowMessageTexts } from '../domain/failed-row';
import { correctionFile, correctionWorkbook } from '../formats/correction-file';
import { encodeText } from '../formats/text-stream';
import type { FailedRowStore } from '../store/failed-row-store';
import type { ImportJob } from '../store/import-store';

const ROWS_PER_QUERY = 1_000;

export interface CorrectionFile {
  content: Readable;
  name: string;
  type: string;
}

/** Streams the failed rows of an import in the format of its upload; undefined where no row failed. */
export async function openCorrectionFile(
  failedRows: FailedRowStore,
  job: ImportJob,
  texts: RowMessageTexts,
): Promise<CorrectionFile | undefined> {
  const [first] = await failedRows.list(job.tenantId, job.id, 0, 1);
  if (!first) return undefined;
  const { format } = job;
  const headers = job.headers ?? [];
  const rows = localizedRows(failedRows, job, texts);
  if (format.kind === 'xlsx') {
    return {
      content: Readable.from(correctionWorkbook(headers, rows), { objectMode: false }),
      name: fileNameOf(job, 'xlsx'),
      type: fileTypes.xlsx,
    };
  }
  const type = format.delimiter === '\t' ? 'tsv' : 'csv';
  return {
    content: Readable.from(correctionFile(headers, format, rows)).pipe(encodeText(format)),
    name: fileNameOf(job, type),
    type: fileTypes[type],
  };
}

async function* localizedRows(
  failedRows: FailedRowStore,
  { tenantId, id }: ImportJob,
  texts: RowMessageTexts,
): AsyncGenerator<FailedRowWithCells[]> {
  let after = 0;
  for (;;) {
    const rows = await failedRows.list(tenantId, id, after, ROWS_PER_QUERY);
    if (rows.length === 0) return;
    yield rows.map((row) => localize(row, texts));
    after = rows.at(-1)!.rowNumber;
  }
}

const fileNameOf = ({ originalFileName }: ImportJob, extension: string): string =>
  `${originalFileName.replace(/\.[^.]{1,5}$/, '')}_errors.${extension}`;
