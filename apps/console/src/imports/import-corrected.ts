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
  const { body: found } = await dataExchange.getImportFormat({ params });
  const { decimalSeparator, dateOrder } = former;
  const wanted: Parameters<typeof dataExchange.correctImportFormat>[0]['body'] & object = {
    delimiter: former.delimiter ?? ',',
    ...(decimalSeparator === '.' || decimalSeparator === ',' ? { decimalSeparator } : {}),
    ...(dateOrder ? { dateOrder } : {}),
  };
  // A dot that is said differs from one that nothing showed: it has digits grouped. So only what differs is corrected, as
  // for a workbook, or where a later import has the same columns.
  const names = Object.keys(wanted) as (keyof typeof wanted)[];
  if (names.some((name) => found[name] !== wanted[name]))
    await dataExchange.correctImportFormat({ params, body: wanted });
  const { body: preview } = await dataExchange.previewImport({ params });
  const mapped = new Set(preview.suggestions.map(({ targetProperty }) => targetProperty));
  const isComplete = preview.fieldMetadata.every(
    ({ isRequired, propertyPath }) => !isRequired || mapped.has(propertyPath),
  );
  if (isComplete)
    await dataExchange.confirmImportMappings({ params, body: { mappings: preview.suggestions } });
  return corrected;
}
