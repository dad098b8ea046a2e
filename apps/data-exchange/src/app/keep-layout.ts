import type { FileRows } from '../formats/read-csv';
import type { ImportDependencies, ImportRun } from './find-import-run';

/**
 * Stores where the table of a workbook was found when its import begins, so that every run of it, of whichever version,
 * reads the same rows: those of a batch that is committed stay those of its number. Failed rows have the columns of this
 * sheet, which may not be the one that was previewed last. Where that fails, the file is closed.
 */
export async function keepLayout(
  { imports }: Pick<ImportDependencies, 'imports'>,
  { job }: ImportRun,
  file: FileRows,
): Promise<void> {
  const { headers, headerRow, headerRows, lastRow } = file;
  const { format, options } = job;
  if (format.kind === 'csv') return;
  const { sheet = format.sheet } = options;
  const isKept =
    format.headerRow === headerRow &&
    format.headerRows === headerRows &&
    format.lastRow === lastRow &&
    format.sheet === sheet &&
    JSON.stringify(job.headers) === JSON.stringify(headers);
  if (isKept) return;
  const layout = { ...format, headerRow, headerRows, lastRow, ...(sheet === undefined ? {} : { sheet }) };
  try {
    await imports.keepLayout(job.tenantId, job.id, { headers, format: layout });
  } catch (error) {
    await file.close();
    throw error;
  }
}
