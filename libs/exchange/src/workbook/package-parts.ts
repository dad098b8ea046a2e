import { escapeXml } from './cell-xml';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE_RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const CONTENT_TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const CONTENT_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** How values are shown: each the content of its element in the part of styles. */
export interface Styles {
  /** Codes of number formats, by their ids, which begin at 164. */
  numberFormats: ReadonlyMap<number, string>;
  /** `<xf>` elements: a cell names its style by the index. */
  cells: readonly string[];
}

/** The font of headers; the other one is 0. */
export const BOLD_FONT = 1;
/** The background of headers. */
export const HEADER_FILL = 2;

/** The part of styles. The first two fills belong to the format itself. */
const stylesPart = ({ numberFormats, cells }: Styles): string => `<styleSheet xmlns="${MAIN}">
<numFmts count="${numberFormats.size}">
${[...numberFormats].map(([id, code]) => `<numFmt numFmtId="${id}" formatCode="${escapeXml(code)}"/>`).join('\n')}
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
<cellXfs count="${cells.length}">
${cells.join('\n')}
</cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>`;

/** The name of the part of a sheet. */
export const sheetPart = (number: number): string => `xl/worksheets/sheet${number}.xml`;

/** The beginning of the part of a sheet, up to its rows. `views` and `columns` are XML as well. */
export const sheetBegin = ({ views = '', columns }: { views?: string; columns: string }): string =>
  `${DECLARATION}<worksheet xmlns="${MAIN}">${views}${columns === '' ? '' : `<cols>${columns}</cols>`}<sheetData>`;

/** The end of the part of a sheet; `ranges` of cells, such as `A1:B2`, are merged. */
export const sheetEnd = (ranges: readonly string[] = []): string => {
  const merged = ranges.map((range) => `<mergeCell ref="${range}"/>`).join('');
  return `</sheetData>${merged === '' ? '' : `<mergeCells count="${ranges.length}">${merged}</mergeCells>`}</worksheet>`;
};

/** All parts of a workbook but its sheets, by their names. */
export function workbookParts(sheetNames: readonly string[], styles: Styles): Record<string, string> {
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
${numbers.map((number) => `<sheet name="${escapeXml(sheetNames[number - 1]!)}" sheetId="${number}" r:id="sheet${number}"/>`).join('\n')}
</sheets>
</workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE_RELATIONS}">
<Relationship Id="styles" Type="${RELATIONS}/styles" Target="styles.xml"/>
${numbers.map((number) => `<Relationship Id="sheet${number}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${number}.xml"/>`).join('\n')}
</Relationships>`,
    'xl/styles.xml': stylesPart(styles),
  };
  return Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, DECLARATION + xml]));
}
