import { crc32, deflateRawSync } from 'node:zlib';

/** One file of a zip; what is not said is as it should be. */
export interface ZipFile {
  name: string;
  content: string | Buffer;
  /** 0 stored, 8 deflated. */
  method?: number;
  flags?: number;
  /** What the directory says of it. */
  claims?: { unpackedBytes?: number; packedBytes?: number; headerAt?: number };
}

/** Makes a zip by the byte, so that it may also be one that no library writes. */
export function aZip(files: readonly ZipFile[], claims: { count?: number; start?: number } = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, method = 8, flags = 0, claims: claimed = {} } of files) {
    const bytes = Buffer.from(content as string);
    const packed = method === 8 ? deflateRawSync(bytes) : bytes;
    const nameBytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(claimed.packedBytes ?? packed.length, 14);
    common.writeUInt32LE(claimed.unpackedBytes ?? bytes.length, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(claimed.headerAt ?? at, 10);
    bodies.push(Buffer.from('504b0304', 'hex'), common, nameBytes, packed);
    directory.push(Buffer.from('504b01021400', 'hex'), common, rest, nameBytes);
    at += 30 + nameBytes.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('504b0506', 'hex');
  end.writeUInt16LE(claims.count ?? files.length, 8);
  end.writeUInt16LE(claims.count ?? files.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(claims.start ?? at, 16);
  return Buffer.concat([...bodies, listed, end]);
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

export const inlineCell = (reference: string, text: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`;

export const header = `<row r="1">${inlineCell('A1', 'Code')}${inlineCell('B1', 'Title')}</row>`;

export const sheetOf = (rows: string): string =>
  `<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`;

export const stringsOf = (items: string): string => `<sst xmlns="${MAIN}">${items}</sst>`;

export const workbookOf = (sheets: string, more = ''): string =>
  `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets}</sheets>${more}</workbook>`;

const wholeWorkbook: Record<string, string> = {
  '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': workbookOf('<sheet name="First" sheetId="1" r:id="rId1"/>'),
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  'xl/worksheets/sheet1.xml': sheetOf(
    `${header}<row r="2">${inlineCell('A2', 'A')}${inlineCell('B2', 'a')}</row>`,
  ),
};

/** The parts of a workbook with one row; a part that is undefined is left out. */
export const workbookFiles = (parts: Record<string, string | Buffer | undefined> = {}): ZipFile[] =>
  Object.entries({ ...wholeWorkbook, ...parts }).flatMap(([name, content]) =>
    content === undefined ? [] : [{ name, content }],
  );

export const aRawWorkbook = (parts?: Record<string, string | Buffer | undefined>): Buffer =>
  aZip(workbookFiles(parts));
