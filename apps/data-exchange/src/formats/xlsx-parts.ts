import { BOLD_FONT, HEADER_FILL, type Styles } from '@plinth/exchange/workbook/package-parts';

/** Index of the style of header cells. */
export const HEADER_STYLE = 1;

const styleByType: Readonly<Record<string, number>> = { date: 2, timestamp: 3 };

/** Index of the style in which values of a type are shown. */
export const styleOf = (type: string): number => styleByType[type] ?? 0;

export const styles: Styles = {
  numberFormats: new Map([
    [164, 'yyyy-mm-dd'],
    [165, 'yyyy-mm-dd hh:mm:ss'],
  ]),
  cells: [
    '<xf/>',
    `<xf fontId="${BOLD_FONT}" applyFont="1" fillId="${HEADER_FILL}" applyFill="1"/>`,
    '<xf numFmtId="164" applyNumberFormat="1"/>',
    '<xf numFmtId="165" applyNumberFormat="1"/>',
  ],
};

/** The header stays in sight. */
export const headerView =
  '<sheetViews><sheetView workbookViewId="0">' +
  '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
  '</sheetView></sheetViews>';
