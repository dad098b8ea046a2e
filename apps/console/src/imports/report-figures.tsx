import type { ImportReport } from '../api/data-exchange';
import { useTexts } from '../texts/texts';

const figures = [
  ['insertedRows', 'good'],
  ['updatedRows', 'good'],
  ['skippedRows', ''],
  ['failedRows', 'bad'],
  ['totalRows', ''],
] as const;

/** The rows of a report in figures; until there is one, the places of them, so that nothing moves when it arrives. */
export function ReportFigures({ report }: { report: ImportReport | undefined }) {
  const { t, number } = useTexts();
  return (
    <dl className="figures" aria-hidden={!report || undefined}>
      {figures.map(([name, tone]) => (
        <div key={name} className="panel">
          <dt>{t(`DataExchange.fields.${name}`)}</dt>
          {report ? (
            <dd className={report[name] > 0 ? tone : 'soft'}>{number(report[name])}</dd>
          ) : (
            <dd className="soft">–</dd>
          )}
        </div>
      ))}
    </dl>
  );
}
