import { dataExchange, upload, type ImportJob } from '../api/data-exchange';
import { csvOf } from './csv';

/**
 * Uploads rows that were corrected by hand as a file of their own, to be read as the file that they come from. Where
 * the same columns are recognized again, the new import is ready to be checked.
 */
export async function importCorrected(
  job: ImportJob,
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<ImportJob> {
  const name = `${job.originalFileName.replace(/\.[^.]{1,5}$/, '')}_corrected.csv`;
  const file = new File([csvOf([headers, ...rows])], name, { type: 'text/csv' });
  const corrected = await upload(file, job.definitionName, () => undefined);
  const params = { jobId: corrected.id };
  const { body: former } = await dataExchange.getImportFormat({ params: { jobId: job.id } });
  const { decimalSeparator, dateOrder } = former;
  await dataExchange.correctImportFormat({
    params,
    body: {
      delimiter: ',',
      ...(decimalSeparator === '.' || decimalSeparator === ',' ? { decimalSeparator } : {}),
      ...(dateOrder ? { dateOrder } : {}),
    },
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
