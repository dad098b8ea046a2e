import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { importableFields, type Definition, type DefinitionField } from '../domain/definition';
import { headerHash, suggestMappings, withMappings, type ColumnMapping } from '../domain/mapping';
import type { LayoutFinding } from '../formats/file-format';
import type { FileRows } from '../formats/read-csv';
import type { ImportJob, ImportStore } from '../store/import-store';
import type { MappingStore } from '../store/mapping-store';
import { openRows } from './open-rows';

export interface PreviewDependencies {
  imports: ImportStore;
  savedMappings: MappingStore;
  blobs: BlobStore;
}

export interface ImportPreview {
  headers: string[];
  previewRows: string[][];
  suggestions: ColumnMapping[];
  fields: DefinitionField[];
  findings: LayoutFinding[];
}

const PREVIEW_ROWS = 20;

/** Reads the first rows of an upload and suggests its mappings, or those that somebody chose already. A job that is mapped already stays so. */
export async function readPreview(
  { imports, savedMappings, blobs }: PreviewDependencies,
  job: ImportJob,
  definition: Definition,
  sheet: string | undefined,
): Promise<ImportPreview> {
  const fields = importableFields(definition);
  const file = await openRows(job, blobs, sheet);
  const previewRows = await firstRows(file, PREVIEW_ROWS);
  const { headers } = file;
  const saved = await savedMappings.get(job.tenantId, definition.name, headerHash(headers));
  const status = job.status === 'Created' ? { status: 'Previewed' } : {};
  await imports.advance(job.tenantId, job.id, 'preview', { ...status, headers });
  const findings = job.format.kind === 'csv' ? (job.format.findings ?? []) : [];
  const suggestions = withMappings(suggestMappings(headers, fields, saved), job.mappings ?? [], fields);
  return { headers, previewRows, suggestions, fields, findings };
}

/** The first rows, each with as many cells as there are columns. */
async function firstRows({ headers, rows }: FileRows, count: number): Promise<string[][]> {
  const first: string[][] = [];
  for await (const piece of rows) {
    first.push(
      ...piece
        .slice(0, count - first.length)
        .map(({ cells }) => headers.map((_, index) => cells[index] ?? '')),
    );
    if (first.length >= count) break;
  }
  return first;
}
