import { dataExchange, upload, type ImportJob } from '../api/data-exchange';
import { correctionsOf } from './corrections';

/**
 * Uploads rows that were corrected by hand, to be read as the file that they come from. Where the same columns are
 * recognized again, the new import is ready to be checked.
 */
export async function importCorrected(
  job: ImportJob,
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<ImportJob> {
  const name = `${job.originalFileName.replace(/\.[^.]{1,5}$/, '')}_corrected.csv`;
  const { body: former } = await dataExchange.getImportFormat({ params: { jobId: job.id } });
  const file = new File([correctionsOf(former, headers, rows)], name, { type: 'text/csv' });
  const corrected = await upload(file, job.definitionName, () => undefined);
  const params = { jobId: corrected.id };
  const { delimiter, dateOrder } = former;
  // Of a workbook there is no format of texts that data exchange could read the rows in.
  if (delimiter === null)
    await dataExchange.correctImportFormat({
      params,
      body: { delimiter: ',', ...(dateOrder ? { dateOrder } : {}) },
    });
  const { body: preview } = await dataExchange.previewImport({ params });
  const mapped = new Set(preview.suggestions.map(({ targetProperty }) => targetProperty));
  const isComplete = preview.fieldMetadata.every(
    ({ isRequired, propertyPath }) => !isRequired || mapped.has(propertyPath),
  );
  if (isComplete)
    await dataExchange.confirmImportMappings({ params, body: { mappings: preview.suggestions } });
  return corrected;
}
