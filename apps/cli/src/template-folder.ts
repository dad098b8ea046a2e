import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CommandError } from './exit-codes';

/** A template as a folder holds it. */
export interface TemplateFile {
  name: string;
  culture: string | null;
  category: string | null;
  mimeType: string;
  content: string;
}

interface Entry extends Omit<TemplateFile, 'content'> {
  file: string;
}

/** Lists the templates of a folder, with what their files do not say; one file for each content lies beside it. */
const MANIFEST = 'templates.json';

export const titleOf = ({ name, culture }: Pick<TemplateFile, 'name' | 'culture'>): string =>
  culture === null ? name : `${name} (${culture})`;

/** Makes a folder hold these templates and no others that it listed before. */
export function writeFolder(folder: string, templates: readonly TemplateFile[]): void {
  mkdirSync(folder, { recursive: true });
  const files = filesOf(templates);
  const entries = templates.map(({ content: _content, ...rest }, index): Entry => ({
    ...rest,
    file: files[index]!,
  }));
  for (const { file } of readManifest(folder) ?? [])
    if (!entries.some((entry) => entry.file === file)) rmSync(pathOf(folder, file), { force: true });
  templates.forEach(({ content }, index) => write(pathOf(folder, entries[index]!.file), content));
  write(pathOf(folder, MANIFEST), `${JSON.stringify(entries, null, 2)}\n`);
}

/** A folder from elsewhere, such as a repository, must not lead out of itself: neither by names nor by links. */
function pathOf(folder: string, file: string): string {
  const path = join(folder, file);
  if (/[\\/]/.test(file) || ['', '.', '..'].includes(file))
    throw new CommandError(`"${file}" is no name of a file in ${folder}.`);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new CommandError(`${path} is no file.`);
  return path;
}

const FOR_WRITING = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0);

/** Never through a link that was put there meanwhile. */
function write(path: string, content: string): void {
  const file = openSync(path, FOR_WRITING);
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
}

/** The templates that a folder lists. @throws CommandError where it is none, or a file is missing */
export function readFolder(folder: string): TemplateFile[] {
  const entries = readManifest(folder);
  if (entries === undefined)
    throw new CommandError(`${folder} has no ${MANIFEST}; \`plinth templates pull\` makes one.`);
  return entries.map(({ file, ...rest }) => {
    const path = pathOf(folder, file);
    try {
      return { ...rest, content: readFileSync(path, 'utf8') };
    } catch (error) {
      throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
    }
  });
}

function readManifest(folder: string): Entry[] | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Entry[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`${join(folder, MANIFEST)} cannot be read: ${(error as Error).message}`);
  }
}

/** As much of a name as every file system takes, with a culture, a number and an ending. */
const NAME_LENGTH_MAX = 200;

/**
 * A file for each template, never two for one: also where names differ only by case, which many file systems ignore, or
 * only after many characters. A `~` stands before the culture, since it is in no name.
 */
function filesOf(templates: readonly TemplateFile[]): string[] {
  const taken = new Set<string>();
  return templates.map((template) => {
    const name = [template.name, template.culture]
      .filter((part) => part !== null)
      .map(encode)
      .join('~')
      .slice(0, NAME_LENGTH_MAX);
    const extension = extensionOf(template.mimeType);
    let file = `${name}.${extension}`;
    for (let count = 2; taken.has(file.toLowerCase()); count++) file = `${name}~${count}.${extension}`;
    taken.add(file.toLowerCase());
    return file;
  });
}

/** Names may hold what file systems do not like; the manifest has the name as it is. */
const encode = (part: string): string =>
  encodeURIComponent(part).replaceAll('*', '%2A').replaceAll('~', '%7E');

function extensionOf(mimeType: string): string {
  if (mimeType.startsWith('text/html')) return 'html';
  return mimeType.startsWith('text/') ? 'txt' : 'template';
}
