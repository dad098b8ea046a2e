import type { ImportReport } from '../api/data-exchange';
import { useTexts } from '../texts/texts';

/** The rows of a report in figures. */
export function ReportFigures({ report }: { report: ImportReport }) {
  const { t, number } = useTexts();
  const figures = [
    ['insertedRows', report.insertedRows, 'good'],
    ['updatedRows', report.updatedRows, 'good'],
    ['skippedRows', report.skippedRows, ''],
    ['failedRows', report.failedRows, 'bad'],
    ['totalRows', report.totalRows, ''],
  ] as const;
  return (
    <dl className="figures">
      {figures.map(([name, value, tone]) => (
        <div key={name} className="panel">
          <dt>{t(`DataExchange.fields.${name}`)}</dt>
          <dd className={value > 0 ? tone : 'soft'}>{number(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
