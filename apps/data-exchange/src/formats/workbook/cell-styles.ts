import { attributeOf, type XmlListener } from './xml-scanner.ts';

/** What the number of a cell means; `0000` is a code of at least so many digits, such as one of a place or a customer. */
export type NumberKind = 'number' | 'date' | 'time' | `${typeof DIGITS}${string}`;

const DIGITS = '00';
const DIGITS_MAX = 15;

const CELL_STYLES_MAX = 100_000;

const builtInKind = (id: number): NumberKind => {
  if ((id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return 'date';
  return (id >= 18 && id <= 21) || (id >= 45 && id <= 47) ? 'time' : 'number';
};

/** What a format such as `dd.mm.yyyy hh:mm` shows; text in it, colours and conditions do not count. */
export function kindOfFormat(code: string): NumberKind {
  const [first = ''] = code.split(';');
  if (isDigits(first)) return first;
  if (/^(General|Standard)$/i.test(first.trim())) return 'number';
  const letters = first
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^[\]]*\]/gi, '')
    .replace(/am\/pm|a\/p/gi, 'h');
  if (/[dy]/i.test(letters)) return 'date';
  if (/[hs]/i.test(letters)) return 'time';
  // Months without a day or a year are dates; minutes are never alone.
  return /m/i.test(letters) && !/[#0?]/.test(letters) ? 'date' : 'number';
}

const isDigits = (code: string): code is `${typeof DIGITS}${string}` =>
  /^0+$/.test(code) && code.length >= DIGITS.length && code.length <= DIGITS_MAX;

/** Collects what the numbers of each cell style mean. */
export function cellStyles(): { kinds: NumberKind[]; listener: XmlListener } {
  const kinds: NumberKind[] = [];
  const kindsById = new Map<number, NumberKind>();
  let isInCellStyles = false;
  return {
    kinds,
    listener: {
      open(name, attributes) {
        if (name === 'numFmt') {
          const code = attributeOf(attributes, 'formatCode') ?? '';
          kindsById.set(Number(attributeOf(attributes, 'numFmtId')), kindOfFormat(code));
        } else if (name === 'cellXfs') isInCellStyles = true;
        else if (name === 'xf' && isInCellStyles && kinds.length < CELL_STYLES_MAX) {
          const id = Number(attributeOf(attributes, 'numFmtId') ?? 0);
          kinds.push(kindsById.get(id) ?? builtInKind(id));
        }
      },
      close(name) {
        if (name === 'cellXfs') isInCellStyles = false;
      },
    },
  };
}
