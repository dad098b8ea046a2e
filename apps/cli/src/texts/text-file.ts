import { readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { CommandError } from '../exit-codes';
import { fromCsv, toCsv } from './csv';
import { fromPo, toPo } from './po';
import { fromXliff, toXliff } from './xliff';

/** A text to translate. */
export interface TextUnit {
  resource: string;
  key: string;
  source: string;
  /** Empty where it is not translated yet. */
  target: string;
}

/** What a file of texts says of itself. */
export interface TextFile {
  sourceCulture: string;
  targetCulture: string;
  units: TextUnit[];
}

interface Format {
  write: (file: TextFile) => string;
  /** @returns what was translated; the source of a unit may be missing */
  read: (text: string) => TextUnit[];
}

const formats: Record<string, Format> = {
  '.csv': { write: toCsv, read: fromCsv },
  '.json': { write: toJson, read: fromJson },
  '.po': { write: toPo, read: fromPo },
  '.xlf': { write: toXliff, read: fromXliff },
  '.xliff': { write: toXliff, read: fromXliff },
};

/** The format that the name of a file stands for. @throws CommandError for another name */
function formatOf(path: string): Format {
  const format = formats[extname(path).toLowerCase()];
  if (format === undefined) throw new CommandError(`${path} is none of ${Object.keys(formats).join(', ')}.`);
  return format;
}

/** Writes texts in the format of the file's name. */
export const writeTexts = (path: string, file: TextFile): void =>
  writeFileSync(path, formatOf(path).write(file));

/** Reads texts in the format of the file's name. @throws CommandError for a file that is not in this format */
export function readTexts(path: string): TextUnit[] {
  const { read } = formatOf(path);
  try {
    return read(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Texts by resource and key, as the platform returns them. */
function toJson({ units }: TextFile): string {
  // Without a prototype `__proto__` is a name like any other.
  const resources: Record<string, Record<string, string>> = Object.create(null);
  for (const { resource, key, target } of units) (resources[resource] ??= Object.create(null))[key] = target;
  return `${JSON.stringify(resources, null, 2)}\n`;
}

function fromJson(text: string): TextUnit[] {
  const resources = JSON.parse(text) as Record<string, Record<string, string>>;
  return Object.entries(resources).flatMap(([resource, texts]) =>
    Object.entries(texts).map(([key, target]) => ({ resource, key, source: '', target })),
  );
}
