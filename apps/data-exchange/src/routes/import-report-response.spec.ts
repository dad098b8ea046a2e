import { ImportJobStatus, REPORT_ROW_ERRORS_MAX } from '@plinth/contracts/data-exchange/shapes';
import { rowMessage } from '@plinth/exchange/row-message';
import { jsonPieces } from '@plinth/kernel/json-pieces';
import type { MessageTexts } from '../domain/message-texts';
import { toReport } from './import-report-response';

const failedRow = (rowNumber: number) => ({
  rowNumber,
  kind: 'Conversion' as const,
  cells: [],
  details: Array.from({ length: 10 }, (_, index) => ({
    column: `Column ${index}`,
    value: 'much',
    code: 'Service:Conversion:Integer',
    message: 'must be a whole number',
    text: rowMessage('integer'),
  })),
});
const failedRows = Array.from({ length: REPORT_ROW_ERRORS_MAX }, (_, index) => failedRow(index + 2));
const group = { kind: 'Conversion' as const, example: failedRow(2).details[0]!, count: 10_000 };

/** The longest report, with the words of a tenant for what is no integer. */
function reportWith(integer: string) {
  const texts: MessageTexts = { culture: 'fr', byKey: { 'rowErrors.integer': integer } };
  const report = toReport({
    importJobId: 'job',
    finalStatus: ImportJobStatus.Failed,
    counts: { totalRows: 1_000, insertedRows: 0, updatedRows: 0, failedRows: 1_000, skippedRows: 0 },
    milliseconds: 1,
    failedRows,
    texts,
    groups: { groups: [group], rows: 1_000 },
  });
  for (;;) {
    const step = report.next();
    if (step.done) return step.value;
  }
}

describe('the report of an import', () => {
  it('tells all of its errors in the words of the tenant', () => {
    const words = '{0} doit être un nombre entier, sans virgule et sans lettres, et sans autre chose.';
    const { rowErrors } = reportWith(words);
    expect(rowErrors.at(-1)!.details.at(-1)!.message).toBe(words.replace('{0}', 'Column 9'));
  });

  it.each(['é', '\u0001'])(
    'is no longer than a few megabytes where those words are thousands of %j: its last errors are in English',
    (filler) => {
      const words = `{0} ${filler.repeat(3_900)}`;
      const report = reportWith(words);
      let length = 0;
      for (const piece of jsonPieces(report)) length += piece.length;
      expect(length).toBeLessThan(8 * 1024 * 1024);
      expect(report.errorGroups?.[0]?.message).toBe(words.replace('{0}', 'Column 0'));
      expect(report.rowErrors[0]!.details[0]!.message).toBe(words.replace('{0}', 'Column 0'));
      expect(report.rowErrors.at(-1)!.details[9]!.message).toBe('Column 9 must be a whole number.');
    },
  );
});
