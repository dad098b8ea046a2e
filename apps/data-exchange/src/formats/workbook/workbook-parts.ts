import { UnreadableFile } from '../unreadable-file.ts';
import { attributeOf, XmlScanner, type XmlListener } from './xml-scanner.ts';
import { readZipDirectory, type RandomAccess, type ZipEntry } from './zip-directory.ts';
import { readZipPart } from './zip-part.ts';

export interface Sheet {
  name: string;
  /** Nobody who opens the workbook sees it. */
  isHidden: boolean;
  part: ZipEntry;
}

/** What a workbook consists of, as far as its rows need it. */
export interface WorkbookParts {
  sheets: Sheet[];
  sharedStrings: ZipEntry | undefined;
  styles: ZipEntry | undefined;
  /** Days are counted from 1904, as old Macs did. */
  isFrom1904: boolean;
}

const SHEETS_MAX = 1_000;
/** Excel allows 31. Every job keeps the names of its sheets. */
const SHEET_NAME_LENGTH_MAX = 100;
const RELATIONS_MAX = 5_000;
/** Excel writes `rId1`. */
const RELATION_ID_LENGTH_MAX = 255;
const RELATION_TYPES = ['officeDocument', 'worksheet', 'sharedStrings', 'styles'] as const;
/** Of each part that lists others: the names of cells, of which a workbook may have very many, stand behind its sheets. */
const BEGINNING_BYTES_MAX = 4 * 1024 ** 2;
const MAIN_TYPE =
  /spreadsheetml\.(sheet|template)\.main\+xml|ms-excel\.(sheet|template)\.macroEnabled\.main\+xml/i;

/** Finds the parts of a workbook; undefined where the zip is something else. @throws UnreadableFile. */
export async function readWorkbookParts(file: RandomAccess): Promise<WorkbookParts | undefined> {
  const parts = new Map((await readZipDirectory(file)).map((entry) => [entry.name.toLowerCase(), entry]));
  const types = parts.get('[content_types].xml');
  if (!types || !(await isSpreadsheet(file, types))) return undefined;
  const root = await readRelations(file, parts, '');
  const workbook = root.find(({ type }) => type === 'officeDocument')?.part ?? parts.get('xl/workbook.xml');
  if (!workbook) throw new UnreadableFile('The workbook has no list of its sheets.');
  const relations = await readRelations(file, parts, workbook.name);
  const partOf = (type: Relation['type']) => relations.find((relation) => relation.type === type)?.part;
  const sheetParts = new Map<string, ZipEntry>();
  for (const { id, type, part } of relations)
    if (type === 'worksheet' && !sheetParts.has(id)) sheetParts.set(id, part);
  const { listed, isFrom1904 } = await readSheetList(file, workbook);
  const sheets = listed.flatMap(({ id, ...sheet }) => {
    const part = sheetParts.get(id);
    return part ? [{ ...sheet, part }] : [];
  });
  if (sheets.length === 0) throw new UnreadableFile('The workbook has no sheet.');
  return { sheets, sharedStrings: partOf('sharedStrings'), styles: partOf('styles'), isFrom1904 };
}

/** Sends a part through a listener. */
export async function scanPart(file: RandomAccess, part: ZipEntry, listener: XmlListener): Promise<void> {
  const decoder = new TextDecoder();
  const scanner = new XmlScanner(listener);
  for await (const chunk of readZipPart(file, part)) scanner.push(decoder.decode(chunk, { stream: true }));
  scanner.push(decoder.decode());
  scanner.end();
}

/**
 * The same for a part of which only a small beginning is needed.
 * @param isFound whether nothing more of it is
 * @throws UnreadableFile where that is not so after so many bytes, and they are not all
 */
async function scanBeginning(
  file: RandomAccess,
  part: ZipEntry,
  listener: XmlListener,
  isFound: () => boolean,
): Promise<void> {
  const decoder = new TextDecoder();
  const scanner = new XmlScanner(listener);
  let bytes = 0;
  for await (const chunk of readZipPart(file, part)) {
    bytes += chunk.length;
    if (bytes > BEGINNING_BYTES_MAX)
      throw new UnreadableFile(`The part ${part.name.slice(0, 100)} of the workbook is too large.`);
    scanner.push(decoder.decode(chunk, { stream: true }));
    if (isFound()) return;
  }
  scanner.push(decoder.decode());
  scanner.end();
}

async function isSpreadsheet(file: RandomAccess, types: ZipEntry): Promise<boolean> {
  let isFound = false;
  const listener: XmlListener = {
    open: (_name, attributes) => {
      isFound ||= MAIN_TYPE.test(attributeOf(attributes, 'ContentType') ?? '');
    },
  };
  await scanBeginning(file, types, listener, () => isFound);
  return isFound;
}

interface Relation {
  id: string;
  /** The last part of its type: `worksheet`. */
  type: (typeof RELATION_TYPES)[number];
  part: ZipEntry;
}

/** What a part refers to, of what is read of a workbook; nothing outside of it. */
async function readRelations(
  file: RandomAccess,
  parts: ReadonlyMap<string, ZipEntry>,
  name: string,
): Promise<Relation[]> {
  const folder = name.split('/').slice(0, -1);
  const list = parts.get([...folder, '_rels', `${name.split('/').at(-1)}.rels`].join('/').toLowerCase());
  if (!list) return [];
  const relations: Relation[] = [];
  let count = 0;
  const listener: XmlListener = {
    open: (element, attributes) => {
      if (element !== 'Relationship' || attributeOf(attributes, 'TargetMode') === 'External') return;
      if (++count > RELATIONS_MAX) throw new UnreadableFile('The workbook has too many parts.');
      const id = attributeOf(attributes, 'Id') ?? '';
      const named = (attributeOf(attributes, 'Type') ?? '').split('/').at(-1);
      const type = RELATION_TYPES.find((known) => known === named);
      if (!type || id.length > RELATION_ID_LENGTH_MAX) return;
      const part = parts.get(nameOf(folder, attributeOf(attributes, 'Target') ?? ''));
      if (part) relations.push({ id, type, part });
    },
  };
  await scanBeginning(file, list, listener, () => false);
  return relations;
}

/** The name of the part that a target in this folder is, in lower case. */
function nameOf(folder: readonly string[], target: string): string {
  if (target.startsWith('/')) return target.slice(1).toLowerCase();
  const steps = [...folder];
  for (const step of target.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.') steps.push(step);
  }
  return steps.join('/').toLowerCase();
}

async function readSheetList(file: RandomAccess, workbook: ZipEntry) {
  const listed: (Omit<Sheet, 'part'> & { id: string })[] = [];
  let isFrom1904 = false;
  let areListed = false;
  const listener: XmlListener = {
    open: (element, attributes) => {
      if (element === 'workbookPr')
        isFrom1904 = ['1', 'true'].includes(attributeOf(attributes, 'date1904') ?? '');
      if (element !== 'sheet') return;
      if (listed.length === SHEETS_MAX)
        throw new UnreadableFile(`The workbook has more than ${SHEETS_MAX} sheets.`);
      const name = attributeOf(attributes, 'name') ?? '';
      if (name.length > SHEET_NAME_LENGTH_MAX)
        throw new UnreadableFile(`The name of a sheet has more than ${SHEET_NAME_LENGTH_MAX} characters.`);
      const isHidden = (attributeOf(attributes, 'state') ?? 'visible') !== 'visible';
      listed.push({ name, isHidden, id: attributeOf(attributes, 'id') ?? '' });
    },
    close: (element) => {
      areListed ||= element === 'sheets';
    },
  };
  await scanBeginning(file, workbook, listener, () => areListed);
  return { listed, isFrom1904 };
}
