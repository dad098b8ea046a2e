import { Readable } from 'node:stream';
import { fileTypes } from '@plinth/contracts/data-exchange/endpoints';
import { localize, type FailedRowWithCells } from '../domain/failed-row';
import type { MessageTexts } from '../domain/message-texts';
import { correctionFile, correctionWorkbook } from '../formats/correction-file';
import { encodeText } from '../formats/text-stream';
import type { FailedRowStore } from '../store/failed-row-store';
import type { ImportJob } from '../store/import-store';

const PAGE = { bytesMax: 4 * 1024 * 1024, withCells: true };
const FIRST_ROWS = 100;
const ROWS_PER_QUERY_MAX = 1_000;

export interface CorrectionFile {
  content: Readable;
  name: string;
  type: string;
}

/** Streams the failed rows of an import in the format of its upload; undefined where no row failed. */
export async function openCorrectionFile(
  failedRows: FailedRowStore,
  job: ImportJob,
  texts: MessageTexts,
): Promise<CorrectionFile | undefined> {
  const [first] = await failedRows.list(job.tenantId, job.id, { ...PAGE, after: 0, take: 1 });
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
  texts: MessageTexts,
): AsyncGenerator<FailedRowWithCells[]> {
  let after = 0;
  for (let take = FIRST_ROWS; ;) {
    const rows = await failedRows.list(tenantId, id, { ...PAGE, after, take });
    if (rows.length === 0) return;
    // Rows that do not fit are measured all the same, so few of them are asked for.
    take = Math.min(2 * rows.length, ROWS_PER_QUERY_MAX);
    yield rows.map((row) => localize(row, texts));
    after = rows.at(-1)!.rowNumber;
  }
}

const fileNameOf = ({ originalFileName }: ImportJob, extension: string): string =>
  `${originalFileName.replace(/\.[^.]{1,5}$/, '')}_errors.${extension}`;
