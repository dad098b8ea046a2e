import type { RowQuota } from '@plinth/http/row-quota';
import type { Caller } from '@plinth/kernel/caller';
import type { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { hasSecrets, importableFields, type Definition, type DefinitionField } from '../domain/definition';
import { mappedColumns } from '../domain/mapped-columns';
import { headerHash, suggestMappings, withMappings, type ColumnMapping } from '../domain/mapping';
import { withoutSecrets } from '../domain/secret-cells';
import { EVIDENCE_LENGTH_MAX, EVIDENCE_ROWS_MAX, readEvidence, textDatesOf } from '../formats/cell-evidence';
import type { LayoutFinding, XlsxFormat } from '../formats/file-format';
import { filledRows, type FileRow, type FileRows } from '../formats/read-csv';
import { withFoundDates } from '../formats/sheet-dates';
import type { ImportJob, ImportStore } from '../store/import-store';
import { keptBytesOf } from '../store/kept-quota';
import type { MappingStore } from '../store/mapping-store';
import { openRows, type ReadingOptions, type RowSource } from './open-rows';
import { previewRowsOf } from './preview-rows';

export interface PreviewDependencies extends RowSource {
  imports: ImportStore;
  savedMappings: MappingStore;
  kept: Pick<RowQuota, 'take'>;
  turns: EventLoopTurns;
}

export interface ImportPreview {
  headers: string[];
  headerRow: number;
  headerRows: number;
  lastRow: number;
  previewRows: string[][];
  previewRowNumbers: number[];
  suggestions: ColumnMapping[];
  fields: DefinitionField[];
  findings: LayoutFinding[];
  /** Of the job that it shows. */
  version: number;
}

const PREVIEW_ROWS = 20;

interface PreviewReading extends ReadingOptions {
  /** The culture of whoever looks at it. */
  cultureOf: () => Promise<string>;
}

/**
 * Reads the first rows of an upload and suggests its mappings, or those that somebody chose already. A job that is mapped
 * already stays so. Until then it finds how dates of a workbook are written that are texts, as is found of text files when
 * they come.
 * @throws JobChanged
 */
export async function readPreview(
  { imports, savedMappings, kept, turns, ...source }: PreviewDependencies,
  job: ImportJob,
  definition: Definition,
  caller: Caller,
  { cultureOf, ...reading }: PreviewReading,
): Promise<ImportPreview> {
  const fields = importableFields(definition);
  const file = await openRows(job, source, reading);
  const { format } = job;
  // A job that is mapped, and perhaps tried, is read as it was then, whoever looks at it in whichever culture.
  const isFinding = format.kind === 'xlsx' && format.dateOrderFrom !== 'Caller' && job.status !== 'Mapped';
  const { first, sample } = await firstRows(file, isFinding ? EVIDENCE_ROWS_MAX : 0);
  const { headers, headerRow, headerRows, lastRow, findings } = file;
  const shown = previewRowsOf(first, headers.length);
  const findDates = async (found: XlsxFormat): Promise<XlsxFormat> => {
    const evidence = readEvidence(sample, { isWhole: false, columnCount: headers.length });
    const dates = await textDatesOf(await turns.takeEach(caller, evidence), cultureOf);
    return withFoundDates(found, dates, reading.sheet ?? job.options.sheet);
  };
  const found = isFinding ? { format: (await findDates(format)) as object } : {};
  const saved = await savedMappings.get(job.tenantId, definition.name, headerHash(headers));
  if (job.headers === null) kept.take(job.tenantId, keptBytesOf(headers));
  const status = job.status === 'Created' ? { status: 'Previewed' } : {};
  const { version } = job;
  const data = { ...status, headers, ...found };
  await imports.advance(job.tenantId, job.id, 'preview', data, { from: { version } });
  const suggest = async (known: typeof saved) =>
    withMappings(
      await turns.takeEach(caller, suggestMappings(headers, fields, known)),
      job.mappings ?? [],
      fields,
    );
  const suggestions = await suggest(saved);
  // Whoever uploaded the file knows what is in it; others may have saved for such files what they want to see.
  const isMasked = job.createdBy !== caller.userId && hasSecrets(definition);
  const mask = isMasked
    ? withoutSecrets(definition, mappedColumns(await suggest([]), headers))
    : withoutSecrets({ fields: [] }, []);
  return {
    headers,
    headerRow,
    headerRows,
    lastRow,
    previewRows: shown.map(({ cells, error }) => mask(cells, !error)),
    previewRowNumbers: shown.map(({ number }) => number),
    suggestions,
    fields,
    findings,
    version,
  };
}

/** The rows that are shown, and the cells of as many as show something, as long as they are not too long. */
async function firstRows(
  { rows }: FileRows,
  sampleRows: number,
): Promise<{ first: FileRow[]; sample: string[][] }> {
  const first: FileRow[] = [];
  const sample: string[][] = [];
  let length = 0;
  const isSampled = () => sample.length >= sampleRows || length > EVIDENCE_LENGTH_MAX;
  for await (const piece of filledRows(rows)) {
    first.push(...piece.slice(0, PREVIEW_ROWS - first.length));
    for (const { cells } of piece) {
      if (isSampled()) break;
      length += cells.reduce((sum, cell) => sum + cell.length, cells.length);
      if (length <= EVIDENCE_LENGTH_MAX) sample.push([...cells]);
    }
    if (first.length >= PREVIEW_ROWS && isSampled()) break;
  }
  return { first, sample };
}
