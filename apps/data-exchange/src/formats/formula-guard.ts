const startsFormula = /^'*[=+\-@\t\r]/;
const isGuarded = /^'+[=+\-@\t\r]/;
const isPlainNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** Text that no spreadsheet runs as a formula. `unguard` restores exactly what was guarded. */
export const guard = (cell: string): string => {
  const first = cell.charCodeAt(0);
  // Most cells start with a letter or a digit; the patterns are for the others.
  if (first > 64 || (first > 47 && first < 61) || Number.isNaN(first)) return cell;
  return startsFormula.test(cell) && !isPlainNumber.test(cell) ? `'${cell}` : cell;
};

/** Removes what `guard` added. */
export const unguard = (cell: string): string =>
  cell.charCodeAt(0) === 39 && isGuarded.test(cell) ? cell.slice(1) : cell;
