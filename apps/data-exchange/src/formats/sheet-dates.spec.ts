import type { XlsxFormat } from './file-format';
import { datesOfSheet, withFoundDates } from './sheet-dates';

const workbook: XlsxFormat = { kind: 'xlsx', sheets: ['First', 'Second'] };
const dayFirst = { dateOrder: 'DayMonthYear', dateOrderFrom: 'File' } as const;
const monthFirst = { dateOrder: 'MonthDayYear', dateOrderFrom: 'Culture' } as const;

describe('the dates of a sheet', () => {
  it('are those that were found in it', () => {
    const found = withFoundDates(withFoundDates(workbook, dayFirst), monthFirst, 'Second');
    expect(datesOfSheet(found)).toEqual(dayFirst);
    expect(datesOfSheet(found, 'First')).toEqual(dayFirst);
    expect(datesOfSheet(found, 'Second')).toEqual(monthFirst);
    expect(datesOfSheet(found, 'Third')).toEqual({});
    expect(datesOfSheet({ ...found, sheet: 'Second' })).toEqual(monthFirst);
  });

  it('stay those of the first culture in which they were looked at, and are found anew where the sheet shows them', () => {
    const found = withFoundDates(workbook, monthFirst);
    expect(withFoundDates(found, { dateOrder: 'DayMonthYear', dateOrderFrom: 'Culture' })).toBe(found);
    expect(datesOfSheet(withFoundDates(found, dayFirst))).toEqual(dayFirst);
    expect(datesOfSheet(withFoundDates(found, {}))).toEqual({});
  });

  it('are what somebody said of the whole workbook', () => {
    const said = { dateOrder: 'YearMonthDay', dateOrderFrom: 'Caller' } as const;
    expect(datesOfSheet({ ...withFoundDates(workbook, dayFirst), ...said })).toEqual(said);
  });
});
