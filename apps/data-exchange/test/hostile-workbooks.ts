import { gzipSync } from 'node:zlib';
import {
  aRawWorkbook,
  aZip,
  header,
  inlineCell,
  sheetOf,
  stringsOf,
  workbookFiles,
  workbookOf,
  type ZipFile,
} from './a-zip';

/**
 * How a file ends: `unsupported` (415) or `refused` (422) at the upload, `unreadable` (422) at the preview, `failed`
 * (the job, with a reason) when it is executed, `harmless` when it is read as any other.
 */
export type Ending = 'unsupported' | 'refused' | 'unreadable' | 'failed' | 'harmless';

export type HostileWorkbook = [what: string, ending: Ending, make: () => Buffer];

const MEBIBYTE = 1024 ** 2;
const SHEET = 'xl/worksheets/sheet1.xml';
const whole = aRawWorkbook();

const sheet = (rows: string) => () => aRawWorkbook({ [SHEET]: sheetOf(rows) });
const rowsBelow = (rows: string) => sheet(header + rows);
const part = (name: string, content: string | Buffer | undefined) => () => aRawWorkbook({ [name]: content });
const without = (name: string) => part(name, undefined);
const sharing = (items: string, index: string) => () =>
  aRawWorkbook({
    'xl/sharedStrings.xml': stringsOf(items),
    [SHEET]: sheetOf(`${header}<row r="2"><c r="A2" t="s"><v>${index}</v></c>${inlineCell('B2', 'b')}</row>`),
  });
const withFile = (file: ZipFile) => () => aZip([...workbookFiles(), file]);
const replaced = (name: string, change: Partial<ZipFile>) => () =>
  aZip(workbookFiles().map((file) => (file.name === name ? { ...file, ...change } : file)));
const spoiled = (search: Buffer, offset: number, bytes: string) => () => {
  const copy = Buffer.from(whole);
  copy.write(bytes, copy.lastIndexOf(search) + offset, 'hex');
  return copy;
};
const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>`;
const outside = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>';

const notWorkbooks: HostileWorkbook[] = [
  [
    'an old workbook',
    'unsupported',
    () => Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(4_000, 1)]),
  ],
  [
    'a workbook behind a password',
    'unsupported',
    () => Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
  ],
  [
    'an ODS sheet',
    'unsupported',
    () =>
      aZip([
        { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet', method: 0 },
        { name: 'content.xml', content: '<x/>' },
      ]),
  ],
  [
    'a DOCX document',
    'unsupported',
    () =>
      aZip([
        { name: '[Content_Types].xml', content: '<Types/>' },
        { name: 'word/document.xml', content: '<x/>' },
      ]),
  ],
  [
    'a presentation',
    'unsupported',
    () =>
      aZip([
        { name: '[Content_Types].xml', content: '<Types/>' },
        { name: 'ppt/presentation.xml', content: '<x/>' },
      ]),
  ],
  ['a Java archive', 'unsupported', () => aZip([{ name: 'META-INF/MANIFEST.MF', content: 'x' }])],
  ['a zip of a workbook', 'unsupported', () => aZip([{ name: 'a.xlsx', content: whole }])],
  ['an empty zip', 'unsupported', () => aZip([])],
  ['a packed workbook', 'unsupported', () => gzipSync(whole)],
  [
    'a table of an old web page',
    'unsupported',
    () => Buffer.from('<html><table><tr><td>Code</td></tr></table></html>'),
  ],
  ['XML of 2003', 'unsupported', () => Buffer.from('<?xml version="1.0"?><Workbook/>')],
  [
    'other content types',
    'unsupported',
    part('[Content_Types].xml', '<Types><Override PartName="/x" ContentType="text/plain"/></Types>'),
  ],
  ['no content types', 'unsupported', without('[Content_Types].xml')],
  [
    'a binary workbook',
    'unsupported',
    part(
      '[Content_Types].xml',
      '<Types><Override ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>',
    ),
  ],
];

const brokenZips: HostileWorkbook[] = [
  ['half of a file', 'refused', () => whole.subarray(0, whole.length / 2)],
  ['a file without its last bytes', 'refused', () => whole.subarray(0, -10)],
  ['a directory beyond the end', 'refused', () => aZip(workbookFiles(), { start: 0x7fff_ffff })],
  ['a directory at another place', 'refused', () => aZip(workbookFiles(), { start: 7 })],
  ['more parts than there are', 'refused', () => aZip(workbookFiles(), { count: 4_000 })],
  [
    'more parts than a workbook has',
    'refused',
    () =>
      aZip([
        ...workbookFiles(),
        ...Array.from({ length: 5_001 }, (_, index) => ({ name: `x${index}`, content: '' })),
      ]),
  ],
  ['a part behind a password', 'refused', replaced(SHEET, { flags: 1 })],
  ['a part packed as nobody does', 'refused', replaced(SHEET, { method: 12 })],
  ['a spoiled directory', 'refused', spoiled(Buffer.from('504b0102', 'hex'), 0, 'ffffffff')],
  [
    'a part that begins nowhere',
    'refused',
    replaced('xl/workbook.xml', { claims: { headerAt: 0x7fff_ffff } }),
  ],
  ['a spoiled part', 'refused', spoiled(Buffer.from('xl/workbook.xml'), 60, 'ffffffffffff')],
  [
    'a spoiled sheet',
    'unreadable',
    () => {
      const copy = Buffer.from(whole);
      copy.fill(0xff, copy.indexOf(SHEET) + SHEET.length, copy.indexOf(SHEET) + SHEET.length + 40);
      return copy;
    },
  ],
  [
    'sizes of 64 bits that are not there',
    'refused',
    replaced(SHEET, { claims: { unpackedBytes: 0xffff_ffff } }),
  ],
];

const bombs: HostileWorkbook[] = [
  ['a sheet of blanks, a thousand to one', 'refused', part(SHEET, Buffer.alloc(80 * MEBIBYTE, 32))],
  ['a sheet that says it is 5 GB', 'refused', replaced(SHEET, { claims: { unpackedBytes: 0xffff_fffe } })],
  [
    'a sheet larger than it says',
    'unreadable',
    replaced(SHEET, { content: sheetOf(header + ' '.repeat(MEBIBYTE)), claims: { unpackedBytes: 100 } }),
  ],
  [
    'parts that share their bytes',
    'refused',
    () =>
      aZip([
        ...workbookFiles(),
        ...Array.from({ length: 50 }, (_, index) => ({
          name: `y${index}`,
          content: '',
          claims: { headerAt: 0, packedBytes: 500, unpackedBytes: MEBIBYTE },
        })),
      ]),
  ],
  ['parts inside of parts', 'refused', replaced(SHEET, { claims: { headerAt: 10 } })],
  [
    'a workbook inside a workbook',
    'harmless',
    withFile({ name: 'xl/embeddings/inner.xlsx', content: whole }),
  ],
  [
    'a million shared texts',
    'harmless',
    sharing(
      Array.from({ length: 1_000_000 }, (_, index) => `<si><t>text ${index}</t></si>`).join(''),
      '999999',
    ),
  ],
  ['a shared text of 30 MB', 'unreadable', sharing(`<si><t>${'x'.repeat(30 * MEBIBYTE)}</t></si>`, '0')],
  [
    'a cell of 30 MB',
    'unreadable',
    rowsBelow(`<row r="2">${inlineCell('A2', 'x'.repeat(30 * MEBIBYTE))}</row>`),
  ],
  [
    'a cell of 30 MB in pieces',
    'unreadable',
    rowsBelow(`<row r="2">${inlineCell('A2', 'x&amp;'.repeat(5 * MEBIBYTE))}</row>`),
  ],
  ['a comment of 30 MB', 'unreadable', sheet(`<!--${'x'.repeat(30 * MEBIBYTE)}-->${header}`)],
  ['a tag of 10 MB', 'unreadable', sheet(`<row ${'a="b" '.repeat(2 * MEBIBYTE)}>${header}`)],
  ['a hundred thousand tags inside each other', 'unreadable', sheet('<a>'.repeat(100_000))],
  [
    'names for a hundred thousand areas',
    'harmless',
    part(
      'xl/workbook.xml',
      workbookOf(
        '<sheet name="First" sheetId="1" r:id="rId1"/>',
        `<definedNames>${Array.from({ length: 100_000 }, (_, index) => `<definedName name="n${index}">First!$A$1:$IV$99999</definedName>`).join('')}</definedNames>`,
      ),
    ),
  ],
  [
    'merged cells without end',
    'harmless',
    () =>
      aRawWorkbook({
        [SHEET]: sheetOf(
          `${header}<row r="2">${inlineCell('A2', 'A')}${inlineCell('B2', 'b')}</row>`,
        ).replace(
          '</sheetData>',
          `</sheetData><mergeCells>${'<mergeCell ref="A1:XFD1048576"/>'.repeat(100_000)}</mergeCells>`,
        ),
      }),
  ],
  [
    'a million sheets',
    'refused',
    part(
      'xl/workbook.xml',
      workbookOf(
        Array.from(
          { length: 1_000_000 },
          (_, index) => `<sheet name="${index}" sheetId="${index}" r:id="rId1"/>`,
        ).join(''),
      ),
    ),
  ],
  [
    'two thousand sheets',
    'refused',
    part(
      'xl/workbook.xml',
      workbookOf(
        Array.from(
          { length: 2_000 },
          (_, index) => `<sheet name="${index}" sheetId="${index}" r:id="rId1"/>`,
        ).join(''),
      ),
    ),
  ],
];

const names: HostileWorkbook[] = [
  '../../etc/cron.d/x',
  '/etc/passwd',
  'C:\\x',
  'xl\\..\\..\\x',
  'a\0b',
  'xl/../../x',
  SHEET,
  SHEET.toUpperCase(),
].map((name) => [`a part named ${JSON.stringify(name)}`, 'refused', withFile({ name, content: 'x' })]);

const parts: HostileWorkbook[] = [
  ['no workbook', 'refused', without('xl/workbook.xml')],
  ['no relations', 'refused', without('xl/_rels/workbook.xml.rels')],
  ['no sheet', 'refused', without(SHEET)],
  ['a list of no sheets', 'refused', part('xl/workbook.xml', workbookOf(''))],
  [
    'a sheet that is the workbook itself',
    'harmless',
    part(
      'xl/_rels/workbook.xml.rels',
      '<Relationships><Relationship Id="rId1" Type="/worksheet" Target="workbook.xml"/></Relationships>',
    ),
  ],
  [
    'a sheet somewhere else',
    'refused',
    part(
      'xl/_rels/workbook.xml.rels',
      '<Relationships><Relationship Id="rId1" Type="/worksheet" TargetMode="External" Target="http://localhost/x"/></Relationships>',
    ),
  ],
  [
    'a sheet above the root',
    'refused',
    part(
      'xl/_rels/workbook.xml.rels',
      '<Relationships><Relationship Id="rId1" Type="/worksheet" Target="../../../../etc/passwd"/></Relationships>',
    ),
  ],
];

const xml: HostileWorkbook[] = [
  [
    'entities that expand, in the workbook',
    'refused',
    part('xl/workbook.xml', `${laughs}${workbookOf('&c;')}`),
  ],
  [
    'entities that expand, in the sheet',
    'unreadable',
    part(SHEET, `${laughs}${sheetOf('<row><c t="str"><v>&c;</v></c></row>')}`),
  ],
  [
    'entities that expand, in the texts',
    'unreadable',
    part('xl/sharedStrings.xml', `${laughs}${stringsOf('<si><t>&c;</t></si>')}`),
  ],
  [
    'an entity that reads a file',
    'unreadable',
    part(SHEET, `${outside}${sheetOf('<row><c t="str"><v>&a;</v></c></row>')}`),
  ],
  ['an entity nobody declared', 'unreadable', sheet(`<row r="1">${inlineCell('A1', '&nope;')}</row>`)],
  ['a character beyond all', 'unreadable', sheet(`<row r="1">${inlineCell('A1', '&#x110000;')}</row>`)],
  ['tags that do not match', 'unreadable', part(SHEET, '<worksheet><sheetData></worksheet></sheetData>')],
  [
    'tags that never close',
    'failed',
    part(
      SHEET,
      `<worksheet><sheetData>${header}${'<row><c t="str"><v>x</v></c><c t="str"><v>y</v></c></row>'.repeat(30_000)}`,
    ),
  ],
  ['no XML at all', 'unreadable', part(SHEET, Buffer.alloc(100_000, 7))],
];

const sheets: HostileWorkbook[] = [
  ['a cell at the far end', 'harmless', rowsBelow(`<row r="1048576">${inlineCell('XFD1048576', 'x')}</row>`)],
  ['a cell beyond the far end', 'unreadable', rowsBelow(`<row r="2">${inlineCell('XFE2', 'x')}</row>`)],
  ['a row beyond the last', 'unreadable', rowsBelow(`<row r="1048577">${inlineCell('A1048577', 'x')}</row>`)],
  ['a row of no number', 'unreadable', rowsBelow('<row r="-5"></row>')],
  [
    'a million errors in one cell',
    'unreadable',
    rowsBelow(`<row r="2">${'<c r="A2" t="e"><v>x</v></c>'.repeat(1_000_000)}</row>`),
  ],
  ['rows that go backwards', 'unreadable', rowsBelow(`<row r="9"></row><row r="8"></row>`)],
  [
    'a header of 16,384 columns',
    'unreadable',
    sheet(`<row r="1">${'<c t="str"><v>x</v></c>'.repeat(16_384)}</row>`),
  ],
  [
    'rows of 16,384 columns',
    'harmless',
    rowsBelow(`<row>${'<c><v>1</v></c>'.repeat(16_384)}</row>`.repeat(50)),
  ],
  [
    'a sheet with a long name',
    'refused',
    part('xl/workbook.xml', workbookOf(`<sheet name="${'x'.repeat(101)}" sheetId="1" r:id="rId1"/>`)),
  ],
  [
    'rows that share a long text a thousand times',
    'unreadable',
    () =>
      aRawWorkbook({
        'xl/sharedStrings.xml': stringsOf(`<si><t>${'x'.repeat(2_000)}</t></si>`),
        [SHEET]: sheetOf(header + `<row>${'<c t="s"><v>0</v></c>'.repeat(1_000)}</row>`.repeat(300)),
      }),
  ],
  [
    'relations that each of a thousand sheets is looked up among',
    'refused',
    () =>
      aRawWorkbook({
        'xl/workbook.xml': workbookOf('<sheet name="x" sheetId="1" r:id="rId1"/>'.repeat(1_000)),
        'xl/_rels/workbook.xml.rels': `<Relationships>${'<Relationship/>'.repeat(200_000)}</Relationships>`,
      }),
  ],
  ['a text that is not there', 'unreadable', sharing('<si><t>x</t></si>', '7')],
  ['a text of no number', 'unreadable', sharing('<si><t>x</t></si>', 'x')],
  [
    'numbers beyond numbers',
    'harmless',
    rowsBelow('<row r="2"><c r="A2" s="999999999"><v>1e999</v></c><c r="B2"><v>NaN</v></c></row>'),
  ],
];

export const hostileWorkbooks: HostileWorkbook[] = [
  ...notWorkbooks,
  ...brokenZips,
  ...bombs,
  ...names,
  ...parts,
  ...xml,
  ...sheets,
];
