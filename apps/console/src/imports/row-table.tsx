import { memo, useEffect, useRef } from 'react';
import { useTexts } from '../texts/texts';

export interface TableRow {
  /** Of the record in the file, where the header is 1. */
  number: number;
  cells: readonly string[];
  /** What is wrong, by the index of the column. */
  errors?: ReadonlyMap<number, string>;
  /** What is wrong with the row as a whole. */
  rowErrors?: readonly string[];
}

interface RowTableProps {
  label: string;
  headers: readonly string[];
  /** The same list until others are shown. */
  rows: readonly TableRow[];
  /** The column that rows were chosen for. */
  column?: string | null | undefined;
  /** Cells of rows that were edited, in the place of those of the file. */
  edited?: Readonly<Record<number, readonly string[]>>;
  /** Makes cells with errors editable; called with all cells of the row. */
  onEdit?: ((rowNumber: number, cells: string[]) => void) | undefined;
}

/** Rows of a file as they are in it, with what is wrong where it is wrong: in a narrow window that, and what the row is about. */
export function RowTable({ label, headers, rows, column, edited = {}, onEdit }: RowTableProps) {
  const { t } = useTexts();
  const isWrong = rows.some(({ errors, rowErrors }) => errors ?? rowErrors);
  const frame = useRef<HTMLDivElement>(null);
  const wrong = rows[0] && wrongColumn(rows[0], column ? headers.indexOf(column) : -1);
  // What is wrong may be far to the right, or to the left of where others were.
  useEffect(() => {
    const [number, ...cells] = frame.current!.querySelector('tbody tr')?.children ?? [];
    const cell = wrong === undefined ? undefined : cells[wrong]?.getBoundingClientRect();
    if (!number || !cell) return;
    const { left: start, right } = frame.current!.getBoundingClientRect();
    // Beside the numbers of the rows, which stay.
    const left = start + number.getBoundingClientRect().width;
    frame.current!.scrollTop = 0;
    frame.current!.scrollLeft +=
      cell.left < left ? cell.left - left : Math.max(0, Math.min(cell.right - right, cell.left - left));
  }, [rows, wrong]);
  return (
    <div ref={frame} className="table-frame rows-frame" role="region" aria-label={label} tabIndex={0}>
      <table className={isWrong ? 'table rows cards-when-narrow' : 'table rows'}>
        <thead>
          <tr>
            <th scope="col" className="end">
              {t('DataExchange.fields.rowNumber')}
            </th>
            {headers.map((header) => (
              <th key={header} scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.number}
              row={row}
              cells={edited[row.number] ?? row.cells}
              headers={headers}
              onEdit={onEdit}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The column to look at in a row with errors: the one that rows are shown for, or the first with an error. */
function wrongColumn({ errors, rowErrors = [] }: TableRow, wanted: number): number | undefined {
  if (errors?.has(wanted)) return wanted;
  if (rowErrors.length > 0) return 0;
  return errors && errors.size > 0 ? Math.min(...errors.keys()) : undefined;
}

interface RowProps extends Pick<RowTableProps, 'headers' | 'onEdit'> {
  row: TableRow;
  cells: readonly string[];
}

/** Drawn anew only when it changes: of a thousand rows, one at a time is written in. */
const Row = memo(({ row, cells, headers, onEdit }: RowProps) => {
  const { t } = useTexts();
  const { number, errors, rowErrors = [] } = row;
  return (
    <tr>
      <th scope="row" className="end" data-label={t('DataExchange.fields.rowNumber')}>
        {number}
      </th>
      {headers.map((header, index) => {
        const error = errors?.get(index);
        // An error of the whole row may be about any of its cells, and be mended there.
        const mayBeWrong = error !== undefined || rowErrors.length > 0;
        const message = error ?? (index === 0 ? rowErrors.join(' ') : '');
        return (
          <td
            key={header}
            className={message ? 'wrong' : undefined}
            data-label={mayBeWrong ? header : undefined}
          >
            {onEdit && mayBeWrong ? (
              <input
                className="input"
                aria-label={t('Console.imports.cell', { column: header, row: number })}
                aria-invalid={error !== undefined}
                value={cells[index] ?? ''}
                onChange={({ target }) => onEdit(number, cells.with(index, target.value))}
              />
            ) : (
              <span className="cell">{cells[index]}</span>
            )}
            {message && <span className="message">{message}</span>}
          </td>
        );
      })}
    </tr>
  );
});
Row.displayName = 'Row';
