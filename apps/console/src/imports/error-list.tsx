import { useDeferredValue, useMemo, useState, type ReactNode } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import type { ImportReport } from '../api/data-exchange';
import { useTexts } from '../texts/texts';
import { errorsInGroup, groupId, isInGroup, joinGroups, rowsOf, type ErrorGroup } from './row-errors';
import { RowTable } from './row-table';

interface ErrorListProps {
  report: ImportReport;
  /** An import that ran has a file of corrections with all rows. */
  hasFile?: boolean;
  /** One that is checked will have it, where its other rows are imported. */
  makesFile?: boolean;
  onEdit?: (rowNumber: number, cells: string[]) => void;
  /** What was edited so far, by row. */
  edited?: Readonly<Record<number, readonly string[]>>;
  /** What can be done about them: above the rows, so that nobody passes each field of a thousand rows on the way. */
  children?: ReactNode;
}

/** What is wrong with rows: in groups, and each on its cell. */
export function ErrorList({
  report,
  hasFile = false,
  makesFile = false,
  onEdit,
  edited,
  children,
}: ErrorListProps) {
  const { t, number } = useTexts();
  const { errorGroups, groupedRows, failedRows } = report;
  const groups = useMemo(() => joinGroups(errorGroups ?? []), [errorGroups]);
  const [chosen, setChosen] = useState<string>();
  // Its button answers at once; hundreds of rows are rendered in pieces.
  const shown = useDeferredValue(chosen);
  const group = groups.find((one) => groupId(one) === shown);
  const { rows, others } = useMemo(() => {
    const errors = group ? report.rowErrors.filter((error) => isInGroup(error, group)) : report.rowErrors;
    const rows = rowsOf(report, errors);
    const others = group ? group.count - errorsInGroup(errors, group) : report.failedRows - rows.length;
    return { rows, others };
  }, [report, group]);
  return (
    <div className="stack">
      <div className="stack tight">
        <h2>{t('Console.imports.errors')}</h2>
        <p className="soft">
          {t('Console.imports.errorsHelp')}
          {groupedRows !== undefined &&
            groupedRows < failedRows &&
            ` ${t('Console.imports.errorsCounted', { count: groupedRows, all: number(failedRows) })}`}
        </p>
      </div>
      <div className="groups" role="group" aria-label={t('Console.imports.groups')}>
        {groups.map((one) => (
          <ToggleButton
            key={groupId(one)}
            className="group-button"
            isSelected={groupId(one) === chosen}
            onChange={(isSelected) => setChosen(isSelected ? groupId(one) : undefined)}
          >
            <span className="count number">{number(one.count)}</span>
            <span className="stack tight">
              <span>{nameOf(one)}</span>
              <span className="small soft">{t(`DataExchange.errorKind.${one.kind}`)}</span>
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
          column={group?.column}
          {...(edited && { edited })}
          onEdit={onEdit}
        />
      )}
      {others > 0 && (
        <Others count={others} isOfGroup={group !== undefined} hasFile={hasFile} makesFile={makesFile} />
      )}
    </div>
  );
}

const nameOf = ({ column, message }: ErrorGroup): string =>
  column && !message.includes(column) ? `${column}: ${message}` : message;

interface OthersProps extends Pick<Required<ErrorListProps>, 'hasFile' | 'makesFile'> {
  count: number;
  isOfGroup: boolean;
}

/** That there are more rows than a page can show. */
function Others({ count, isOfGroup, hasFile, makesFile }: OthersProps) {
  const { t } = useTexts();
  if (hasFile) {
    const more = isOfGroup ? 'Console.imports.moreOfGroup' : 'Console.imports.moreErrors';
    return <p className="soft">{t(more, { count })}</p>;
  }
  const more = isOfGroup ? 'Console.imports.moreOfGroupChecked' : 'Console.imports.moreChecked';
  return (
    <p className="soft">
      {t(more, { count })} {makesFile && t('Console.imports.fileAfterwards')}
    </p>
  );
}
