import type { ImportReport } from '../api/data-exchange';

type Verdict = 'good' | 'warn' | 'bad' | 'skipped';

/** What a check says about a file as a whole: also that there is nothing to do, where rows that are skipped are no errors. */
export function verdictOf(
  {
    failedRows,
    succeededRows,
    skippedRows,
  }: Pick<ImportReport, 'failedRows' | 'succeededRows' | 'skippedRows'>,
  onError: 'continue' | 'abort',
): Verdict {
  // One row with errors stops all others, which are skipped then.
  const isStopped = onError === 'abort' && failedRows > 0;
  if (succeededRows === 0 && skippedRows > 0 && !isStopped) return 'skipped';
  if (failedRows === 0) return 'good';
  return succeededRows === 0 ? 'bad' : 'warn';
}
