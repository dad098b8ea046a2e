import { dataExchange, upload, type ImportJob } from '../api/data-exchange';
import { correctedFormat, correctedName, correctionsOf } from './corrections';

/**
 * Uploads rows that were corrected by hand, to be read as the file that they come from. Where the same columns are
 * recognized again, the new import is ready to be checked.
 */
export async function importCorrected(
  job: ImportJob,
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<ImportJob> {
  const name = correctedName(job.originalFileName);
  const { body: former } = await dataExchange.getImportFormat({ params: { jobId: job.id } });
  const file = new File([correctionsOf(former, headers, rows)], name, { type: 'text/csv' });
  const corrected = await upload(file, job.definitionName, () => undefined);
  const params = { jobId: corrected.id };
  // Of a workbook, or where a later import has the same columns, another format may be found.
  let { body: found } = await dataExchange.getImportFormat({ params });
  const delimiter = former.delimiter ?? ',';
  // First, since it shows other numbers and dates.
  if (found.delimiter !== delimiter)
    ({ body: found } = await dataExchange.correctImportFormat({ params, body: { delimiter } }));
  const body = correctedFormat(former, found);
  if (Object.keys(body).length > 0) await dataExchange.correctImportFormat({ params, body });
  const { body: preview, etag } = await dataExchange.previewImport({ params });
  const mapped = new Set(preview.suggestions.map(({ targetProperty }) => targetProperty));
  const isComplete = preview.fieldMetadata.every(
    ({ isRequired, propertyPath }) => !isRequired || mapped.has(propertyPath),
  );
  if (isComplete)
    await dataExchange.confirmImportMappings({
      params,
      body: { mappings: preview.suggestions },
      ifMatch: etag,
    });
  return corrected;
}
