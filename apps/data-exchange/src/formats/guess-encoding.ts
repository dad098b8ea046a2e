import jschardet from 'jschardet';
import { TextEncoding } from '@plinth/contracts/data-exchange/shapes';

const SAMPLE_BYTES = 16 * 1024;
/** Fewer say nothing. */
const LETTERS_MIN = 2;
/** Western files are the most, so one that may be another is taken for Western unless the other is clearly likelier. */
const WESTERN_ADVANTAGE = 0.6;
/** Of other encodings of Latin letters, which differ from the Western one in a few letters only, fewer say nothing. */
const LATIN_LETTERS_MIN = 20;
/** A word in another script has bytes beyond ASCII one after the other, an accented letter stands among plain ones. */
const BYTES_IN_A_ROW_MIN = 1.6;
/** Encodings of Latin letters besides the Western one. */
const LATIN = new Set<TextEncoding>([
  TextEncoding.Windows1250,
  TextEncoding.Windows1254,
  TextEncoding.Iso8859Part2,
  TextEncoding.Iso8859Part15,
  TextEncoding.Macintosh,
]);
/** Bytes that end a cell in most files; no encoding uses them for a part of a character. */
const ENDS_OF_CELLS = new Set(Buffer.from(',;\t\r\n"'));

/** Names of encodings that another one contains, or that differ in letters that hardly occur. */
const containedIn: Readonly<Record<string, TextEncoding>> = {
  'iso-8859-1': 'windows-1252',
  'iso-8859-7': 'windows-1253',
  'iso-8859-9': 'windows-1254',
  macroman: 'macintosh',
  gb2312: 'gb18030',
  gbk: 'gb18030',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  cp932: 'shift_jis',
  'windows-31j': 'shift_jis',
};
const known = new Set<string>(Object.values(TextEncoding).filter((name) => !name.startsWith('utf-')));

/** Collects the cells of a file that have letters beyond ASCII; the others say nothing about its encoding (ADR 0028). */
export class LetterSample {
  private readonly cells: Buffer[] = [];
  private length = 0;

  push(chunk: Buffer): void {
    let begin = 0;
    let hasLetter = false;
    for (let index = 0; index <= chunk.length && this.length < SAMPLE_BYTES; index++) {
      const byte = chunk[index];
      if (byte !== undefined && !ENDS_OF_CELLS.has(byte)) {
        if (byte > 127) hasLetter = true;
        continue;
      }
      if (hasLetter) this.add(chunk.subarray(begin, index));
      begin = index + 1;
      hasLetter = false;
    }
  }

  /** The encoding that the letters are most likely in: `windows-1252` where they do not say. */
  guess(): TextEncoding {
    const sample = Buffer.concat(this.cells);
    const { letters, inARow } = countLetters(sample);
    if (letters < LETTERS_MIN) return TextEncoding.Windows1252;
    const candidates = jschardet.detectAll(sample).flatMap(({ encoding, confidence }) => {
      const name = encoding?.toLowerCase() ?? '';
      const found = containedIn[name] ?? (known.has(name) ? (name as TextEncoding) : undefined);
      const isPossible = found && (LATIN.has(found) || inARow >= BYTES_IN_A_ROW_MIN);
      return isPossible || found === TextEncoding.Windows1252 ? [{ found, confidence }] : [];
    });
    const [best] = candidates;
    if (!best || (LATIN.has(best.found) && letters < LATIN_LETTERS_MIN)) return TextEncoding.Windows1252;
    const isWestern = candidates.some(
      ({ found, confidence }) =>
        found === TextEncoding.Windows1252 && confidence >= best.confidence * WESTERN_ADVANTAGE,
    );
    return isWestern ? TextEncoding.Windows1252 : best.found;
  }

  private add(cell: Buffer): void {
    const piece = Buffer.concat([cell, Buffer.from(' ')]);
    this.cells.push(piece);
    this.length += piece.length;
  }
}

/** How many bytes are beyond ASCII, and how many of them follow each other on average. */
function countLetters(sample: Buffer): { letters: number; inARow: number } {
  let letters = 0;
  let rows = 0;
  for (let index = 0; index < sample.length; index++) {
    if (sample[index]! <= 127) continue;
    letters++;
    if (index === 0 || sample[index - 1]! <= 127) rows++;
  }
  return { letters, inARow: rows === 0 ? 0 : letters / rows };
}
