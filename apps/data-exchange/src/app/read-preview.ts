import type { RowQuota } from '@plinth/http/row-quota';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { importableFields, type Definition, type DefinitionField } from '../domain/definition';
import { headerHash, suggestMappings, withMappings, type ColumnMapping } from '../domain/mapping';
import type { LayoutFinding } from '../formats/file-format';
import { filledRows, type FileRow, type FileRows } from '../formats/read-csv';
import type { ImportJob, ImportStore } from '../store/import-store';
import { keptBytesOf } from '../store/kept-quota';
import type { MappingStore } from '../store/mapping-store';
import { openRows, type ReadingOptions } from './open-rows';
import { previewRowsOf } from './preview-rows';

export interface PreviewDependencies {
  imports: ImportStore;
  savedMappings: MappingStore;
  blobs: BlobStore;
  kept: Pick<RowQuota, 'take'>;
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
}

const PREVIEW_ROWS = 20;

/** Reads the first rows of an upload and suggests its mappings, or those that somebody chose already. A job that is mapped already stays so. @throws JobChanged */
export async function readPreview(
  { imports, savedMappings, blobs, kept }: PreviewDependencies,
  job: ImportJob,
  definition: Definition,
  reading: ReadingOptions,
): Promise<ImportPreview> {
  const fields = importableFields(definition);
  const file = await openRows(job, blobs, reading);
  const first = await firstRows(file, PREVIEW_ROWS);
  const { headers, headerRow, headerRows, lastRow, findings } = file;
  const shown = previewRowsOf(first, headers.length);
  const saved = await savedMappings.get(job.tenantId, definition.name, headerHash(headers));
  if (job.headers === null) kept.take(job.tenantId, keptBytesOf(headers));
  const status = job.status === 'Created' ? { status: 'Previewed' } : {};
  const { version } = job;
  await imports.advance(job.tenantId, job.id, 'preview', { ...status, headers }, { from: { version } });
  const suggestions = withMappings(suggestMappings(headers, fields, saved), job.mappings ?? [], fields);
  return {
    headers,
    headerRow,
    headerRows,
    lastRow,
    previewRows: shown.map(({ cells }) => cells),
    previewRowNumbers: shown.map(({ number }) => number),
    suggestions,
    fields,
    findings,
  };
}

async function firstRows({ rows }: FileRows, count: number): Promise<FileRow[]> {
  const first: FileRow[] = [];
  for await (const piece of filledRows(rows)) {
    first.push(...piece.slice(0, count - first.length));
    if (first.length >= count) break;
  }
  return first;
}
