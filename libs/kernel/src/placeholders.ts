import { messagePlaceholders } from './message';

const CHOICES = ['plural', 'select', 'selectordinal'];

/**
 * The names of the placeholders in a text: the numbers of `{0}` and the argument names of ICU messages, also inside
 * the branches of a plural or a select. Apostrophes are ordinary text. What formats ICU messages reads them here.
 */
export const placeholdersOf = (text: string): Set<string> => messagePlaceholders(text) ?? namesInBraces(text);

/** In a text that is no ICU message braces that hold no argument are ordinary text: `{0:N2}`, `{?}`, `{unclosed {0}`. */
function namesInBraces(text: string): Set<string> {
  const names = new Set<string>();
  const ends = matchBraces(text);

  const readMessage = (from: number, to: number): void => {
    for (let index = from; index < to; index++) {
      const end = ends.get(index);
      if (end === undefined) continue;
      readBraces(index + 1, end);
      index = end;
    }
  };
  const readBraces = (from: number, to: number): void => {
    const argument = /^\s*([\p{L}\p{N}_.-]+)\s*(?:[,:]\s*(\w*)[^{}]*)?/u.exec(text.slice(from, to));
    const [read = '', name, type] = argument ?? [];
    const isArgument = name !== undefined && (type !== undefined || read.length === to - from);
    if (!isArgument) return readMessage(from, to);
    names.add(name);
    if (CHOICES.includes(type ?? '')) readBranches(from + read.length, to);
  };
  const readBranches = (from: number, to: number): void => {
    for (let index = from; index < to; index++) {
      const end = ends.get(index);
      if (end === undefined) continue;
      readMessage(index + 1, end);
      index = end;
    }
  };

  readMessage(0, text.length);
  return names;
}

/** Where each opening brace that is closed is closed. */
function matchBraces(text: string): Map<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '{') open.push(index);
    if (text[index] === '}' && open.length > 0) ends.set(open.pop()!, index);
  }
  return ends;
}

export interface PlaceholderDifference {
  missing: string[];
  unexpected: string[];
}

/** What a text lacks or adds compared with the text it replaces; undefined where both take the same values. */
export function comparePlaceholders(replaced: string, text: string): PlaceholderDifference | undefined {
  const expected = placeholdersOf(replaced);
  const actual = placeholdersOf(text);
  const missing = [...expected].filter((name) => !actual.has(name));
  const unexpected = [...actual].filter((name) => !expected.has(name));
  return missing.length + unexpected.length === 0 ? undefined : { missing, unexpected };
}
