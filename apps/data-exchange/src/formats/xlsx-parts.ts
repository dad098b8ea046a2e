const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE_RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const CONTENT_TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const CONTENT_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Index of the style of header cells; see `STYLES`. */
export const HEADER_STYLE = 1;

const styleByType: Readonly<Record<string, number>> = { date: 2, timestamp: 3 };

/** Index of the style in which values of a type are shown. */
export const styleOf = (type: string): number => styleByType[type] ?? 0;

// The first two fills belong to the format itself.
const STYLES = `<styleSheet xmlns="${MAIN}">
<numFmts count="2">
<numFmt numFmtId="164" formatCode="yyyy-mm-dd"/>
<numFmt numFmtId="165" formatCode="yyyy-mm-dd hh:mm:ss"/>
</numFmts>
<fonts count="2">
<font><sz val="11"/><name val="Calibri"/></font>
<font><b/><sz val="11"/><name val="Calibri"/></font>
</fonts>
<fills count="3">
<fill><patternFill patternType="none"/></fill>
<fill><patternFill patternType="gray125"/></fill>
<fill><patternFill patternType="solid"><fgColor rgb="FFE7E6E6"/></patternFill></fill>
</fills>
<borders count="1"><border/></borders>
<cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="4">
<xf/>
<xf fontId="1" applyFont="1" fillId="2" applyFill="1"/>
<xf numFmtId="164" applyNumberFormat="1"/>
<xf numFmtId="165" applyNumberFormat="1"/>
</cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>`;

/** The name of the part of a sheet. */
export const sheetPart = (number: number): string => `xl/worksheets/sheet${number}.xml`;

/** The beginning of the part of a sheet, up to its rows. `columns` is XML as well. */
export const sheetBegin = (columns: string): string =>
  `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">` +
  '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
  `</sheetView></sheetViews><cols>${columns}</cols><sheetData>`;

export const SHEET_END = '</sheetData></worksheet>';

/** All parts of a workbook but its sheets, by their names. */
export function workbookParts(sheetNames: readonly string[]): Record<string, string> {
  const numbers = sheetNames.map((_, index) => index + 1);
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${CONTENT_TYPES}">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="${CONTENT_TYPE}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="${CONTENT_TYPE}.styles+xml"/>
${numbers.map((number) => `<Override PartName="/${sheetPart(number)}" ContentType="${CONTENT_TYPE}.worksheet+xml"/>`).join('\n')}
</Types>`,
    '_rels/.rels': `<Relationships xmlns="${PACKAGE_RELATIONS}">
<Relationship Id="workbook" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/>
</Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}">
<bookViews><workbookView/></bookViews>
<sheets>
${numbers.map((number) => `<sheet name="${sheetNames[number - 1]}" sheetId="${number}" r:id="sheet${number}"/>`).join('\n')}
</sheets>
</workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE_RELATIONS}">
<Relationship Id="styles" Type="${RELATIONS}/styles" Target="styles.xml"/>
${numbers.map((number) => `<Relationship Id="sheet${number}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${number}.xml"/>`).join('\n')}
</Relationships>`,
    'xl/styles.xml': STYLES,
  };
  return Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, DECLARATION + xml]));
}
