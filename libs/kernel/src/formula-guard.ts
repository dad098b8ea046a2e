const startsFormula = /^'*[=+\-@\t\r]/;
const isGuarded = /^'+[=+\-@\t\r]/;
const isPlainNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Where a reader that splits at another character than the file begins a cell: it does not see our quotes either, so
 * lines of a text begin cells too. After a comma, numbers and signs that nothing follows are none: coordinates, "20,-".
 */
const insideFormula =
  /(?<=[;|\t\r\n])(?=['"]*[=+\-@])|(?<=,)(?![+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[,;|\t\r\n]|$))(?=['"]*[=+\-@][^,;|\t\r\n])/g;
const insideGuard = /(?<=[;|\t\r\n])'(?=['"]*[=+\-@])|(?<=,)'(?=['"]*[=+\-@][^,;|\t\r\n])/g;
const mayHaveInside = /[,;|\t\r\n]['"]*[=+\-@]/;

/** Text that no spreadsheet runs as a formula, wherever it splits cells. `unguard` restores exactly what was guarded. */
export const guard = (cell: string): string => {
  const text = mayHaveInside.test(cell) ? cell.replace(insideFormula, "'") : cell;
  const first = text.charCodeAt(0);
  // Most cells start with a letter or a digit; the patterns are for the others.
  if (first > 64 || (first > 47 && first < 61) || Number.isNaN(first)) return text;
  return startsFormula.test(text) && !isPlainNumber.test(text) ? `'${text}` : text;
};

/** Removes what `guard` added. */
export const unguard = (cell: string): string => {
  if (!cell.includes("'")) return cell;
  const text = cell.charCodeAt(0) === 39 && isGuarded.test(cell) ? cell.slice(1) : cell;
  return text.replace(insideGuard, '');
};
