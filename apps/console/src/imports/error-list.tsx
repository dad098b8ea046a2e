import { useDeferredValue, useMemo, useState, type ReactNode } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import type { ImportReport } from '../api/data-exchange';
import { useTexts } from '../texts/texts';
import { groupErrors, isInGroup, rowsOf } from './row-errors';
import { RowTable } from './row-table';

interface ErrorListProps {
  report: ImportReport;
  onEdit?: (rowNumber: number, cells: string[]) => void;
  /** What was edited so far, by row. */
  edited?: Readonly<Record<number, readonly string[]>>;
  /** What can be done about them: above the rows, so that nobody passes each field of a thousand rows on the way. */
  children?: ReactNode;
}

/** What is wrong with rows: in groups, and each on its cell. */
export function ErrorList({ report, onEdit, edited, children }: ErrorListProps) {
  const { t, number } = useTexts();
  const groups = useMemo(() => groupErrors(report.rowErrors), [report]);
  const [chosen, setChosen] = useState<string>();
  // Its button answers at once; hundreds of rows are rendered in pieces.
  const shown = useDeferredValue(chosen);
  const group = groups.find(({ id }) => id === shown);
  const rows = useMemo(() => {
    const errors = group ? report.rowErrors.filter((error) => isInGroup(error, group)) : report.rowErrors;
    return rowsOf(report, errors);
  }, [report, group]);
  const hidden = report.failedRows - (group ? report.failedRows : rows.length);
  return (
    <div className="stack">
      <div className="stack tight">
        <h2>{t('Console.imports.errors')}</h2>
        <p className="soft">
          {t('Console.imports.errorsHelp')}
          {report.rowErrors.length < report.failedRows &&
            ` ${t('Console.imports.errorsShown', { count: report.rowErrors.length, all: number(report.failedRows) })}`}
        </p>
      </div>
      <div className="groups" role="group" aria-label={t('Console.imports.groups')}>
        {groups.map(({ id, kind, column, example, count }) => (
          <ToggleButton
            key={id}
            className="group-button"
            isSelected={id === chosen}
            onChange={(isSelected) => setChosen(isSelected ? id : undefined)}
          >
            <span className="count number">{number(count)}</span>
            <span className="stack tight">
              <span>{column && !example.includes(column) ? `${column}: ${example}` : example}</span>
              <span className="small soft">{t(`DataExchange.errorKind.${kind}`)}</span>
            </span>
          </ToggleButton>
        ))}
      </div>
      {children}
      {rows.length > 0 && (
        <RowTable
          label={t('Console.imports.errors')}
          headers={report.headers ?? []}
          rows={rows}
          {...(edited && { edited })}
          onEdit={onEdit}
        />
      )}
      {hidden > 0 && <p className="soft">{t('Console.imports.moreErrors', { count: hidden })}</p>}
    </div>
  );
}
