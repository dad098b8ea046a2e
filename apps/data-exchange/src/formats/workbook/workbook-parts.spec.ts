import { Readable } from 'node:stream';
import { aZip, type ZipFile } from '../../../test/a-zip';
import { readWorkbookParts } from './workbook-parts';

const FILLING = '<definedName name="a">Sheet1!$A$1</definedName>'.repeat(120_000);
const MAIN = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml';

const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types><Override ContentType="${MAIN}"/></Types>`,
  'xl/workbook.xml': '<workbook><sheets><sheet name="Stock" id="r1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
  'xl/worksheets/sheet1.xml': '<worksheet/>',
};

/** The sheets of a workbook in which something stands before a text of one part. */
function sheetsWith(part: string, before: string, filling: string): Promise<string[]> {
  return sheetsOf(
    Object.entries(PARTS).map(([name, content]): ZipFile => {
      const filled = content.replace(before, () => `${filling}${before}`);
      return { name, content: name === part ? filled : content };
    }),
  );
}

async function sheetsOf(files: readonly ZipFile[]): Promise<string[]> {
  // So that it is as dense as workbooks are.
  const bytes = aZip([
    ...files,
    { name: 'xl/media/image1.png', content: Buffer.alloc(200_000, 7), method: 0 },
  ]);
  const read = async (start: number, end: number) => bytes.subarray(start, end + 1);
  const stream = async (start: number, end: number) => Readable.from([await read(start, end)]);
  const parts = await readWorkbookParts({ sizeBytes: bytes.length, read, stream });
  return parts?.sheets.map(({ name }) => name) ?? [];
}

describe('the list of the parts of a workbook', () => {
  it('may be followed by very many names of cells', async () => {
    await expect(sheetsWith('xl/workbook.xml', '</workbook>', FILLING)).resolves.toEqual(['Stock']);
  });

  it('is in a folder whose name is not much longer than that of others', async () => {
    const inFolder = (length: number) => {
      const folder = 'a/'.repeat(length / 2);
      const root = `<Relationships><Relationship Id="r" Type="x/officeDocument" Target="/${folder}xl/workbook.xml"/></Relationships>`;
      const moved = Object.entries(PARTS).map(([name, content]) => ({
        name: name.startsWith('xl/') ? folder + name : name,
        content,
      }));
      return sheetsOf([...moved, { name: '_rels/.rels', content: root }]);
    };
    await expect(inFolder(900)).resolves.toEqual(['Stock']);
    await expect(inFolder(1_100)).rejects.toThrow('name is too long');
  });

  it('is kept as far as it is read: the first sheet with an id of usual length', async () => {
    const others = ['x'.repeat(256), 'r1'].flatMap((id) =>
      ['hyperlink', 'image'].map(
        (type) => `<Relationship Id="${id}" Type="x/${type}" Target="../workbook.xml"/>`,
      ),
    );
    const relations = `${others.join('')}<Relationship Id="r1" Type="x/worksheet" Target="none.xml"/>`;
    await expect(sheetsWith('xl/_rels/workbook.xml.rels', '<Relationship ', relations)).resolves.toEqual([
      'Stock',
    ]);
  });

  it.each([
    ['xl/workbook.xml', '<sheets>'],
    ['xl/_rels/workbook.xml.rels', '</Relationships>'],
    ['[Content_Types].xml', '<Override'],
  ])('is not looked for behind megabytes of something else: %s', async (part, before) => {
    await expect(sheetsWith(part, before, FILLING)).rejects.toThrow('too large');
  });
});
