import type { DateFormat, XlsxFormat } from './file-format';

/** The sheet that is read unless another one is asked for; undefined in a workbook whose sheets are not known. */
export const usualSheet = ({ sheet, sheets }: XlsxFormat): string | undefined => sheet ?? sheets?.[0];

/** How the dates of a sheet are written that are texts: as somebody said for the workbook, else as was found in that sheet. */
export function datesOfSheet(format: XlsxFormat, sheet = usualSheet(format)): DateFormat {
  const { dateOrder, dateOrderFrom, foundDates = [] } = format;
  if (dateOrderFrom === 'Caller') return { dateOrder, dateOrderFrom };
  const { dates = {} } = foundDates.find((found) => found.sheet === sheet) ?? {};
  return dates;
}

/**
 * The format with what was found in a sheet. An order by a culture stays: it is that of whoever looked at the sheet first,
 * and the next one would read the same dates otherwise.
 */
export function withFoundDates(
  format: XlsxFormat,
  dates: DateFormat,
  sheet = usualSheet(format),
): XlsxFormat {
  const before = datesOfSheet(format, sheet);
  if (dates.dateOrderFrom === 'Culture' && before.dateOrderFrom === 'Culture') return format;
  if (dates.dateOrder === before.dateOrder && dates.dateOrderFrom === before.dateOrderFrom) return format;
  const others = (format.foundDates ?? []).filter((found) => found.sheet !== sheet);
  return { ...format, foundDates: [...others, { sheet, dates }] };
}
