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
  rows: readonly TableRow[];
  /** Makes cells with errors editable. */
  onEdit?: ((rowNumber: number, column: number, text: string) => void) | undefined;
}

/** Rows of a file as they are in it, with what is wrong where it is wrong. */
export function RowTable({ label, headers, rows, onEdit }: RowTableProps) {
  const { t } = useTexts();
  return (
    <div className="table-frame rows-frame" role="region" aria-label={label} tabIndex={0}>
      <table className="table rows">
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
            <Row key={row.number} row={row} headers={headers} onEdit={onEdit} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, headers, onEdit }: Pick<RowTableProps, 'headers' | 'onEdit'> & { row: TableRow }) {
  const { t } = useTexts();
  const { number, cells, errors, rowErrors = [] } = row;
  return (
    <tr>
      <th scope="row" className="end">
        {number}
      </th>
      {headers.map((header, index) => {
        const error = errors?.get(index);
        // An error of the whole row may be mended in any of its cells.
        const isEditable = onEdit && (error !== undefined || rowErrors.length > 0);
        const message = error ?? (index === 0 ? rowErrors.join(' ') : '');
        return (
          <td key={header} className={message ? 'wrong' : undefined}>
            {isEditable ? (
              <input
                className="input"
                aria-label={t('Console.imports.cell', { column: header, row: number })}
                aria-invalid={error !== undefined}
                value={cells[index] ?? ''}
                onChange={({ target }) => onEdit(number, index, target.value)}
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
}
