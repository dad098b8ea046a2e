import { inflateSync } from 'node:zlib';

/**
 * Reads the text of a PDF as Chromium writes it, in the order in which it is painted: enough to see what a reader of
 * the document would see, without another program.
 */
export function textOfPdf(pdf: Buffer): string {
  const objects = objectsOf(pdf);
  const fonts = new Map<string, Map<string, string>>();
  for (const { source } of objects.values()) {
    for (const [, name, id] of source.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const reference = /\/ToUnicode (\d+) 0 R/.exec(objects.get(Number(id))?.source ?? '')?.[1];
      const map = reference && objects.get(Number(reference))?.stream;
      if (map) fonts.set(name!, readMap(map.toString('latin1')));
    }
  }
  return [...objects.values()]
    .map(({ stream }) => (stream ? paintedText(stream.toString('latin1'), fonts) : ''))
    .join('');
}

export const pagesOfPdf = (pdf: Buffer): number =>
  (pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g) ?? []).length;

function objectsOf(pdf: Buffer): Map<number, { source: string; stream?: Buffer }> {
  const text = pdf.toString('latin1');
  const objects = new Map<number, { source: string; stream?: Buffer }>();
  for (const match of text.matchAll(/(\d+) 0 obj\s([\s\S]*?)endobj/g)) {
    const [, id, source] = match;
    const start = source!.indexOf('stream');
    const dictionary = start === -1 ? source! : source!.slice(0, start);
    if (start === -1) {
      objects.set(Number(id), { source: dictionary });
      continue;
    }
    const from = match.index + match[0].indexOf('stream') + (source![start + 6] === '\r' ? 8 : 7);
    const bytes = pdf.subarray(from, pdf.indexOf('endstream', from));
    const stream = dictionary.includes('/FlateDecode') ? tryInflate(bytes) : bytes;
    objects.set(Number(id), { source: dictionary, ...(stream ? { stream } : {}) });
  }
  return objects;
}

function tryInflate(bytes: Buffer): Buffer | undefined {
  try {
    return inflateSync(bytes);
  } catch {
    return undefined;
  }
}

const fromUtf16 = (hex: string): string => Buffer.from(hex, 'hex').swap16().toString('utf16le');

/** Glyphs to characters. */
function readMap(source: string): Map<string, string> {
  const map = new Map<string, string>();
  for (const [, section] of source.matchAll(/beginbfchar([\s\S]*?)endbfchar/g)) {
    for (const [, glyph, text] of section!.matchAll(/<([0-9a-f]+)> <([0-9a-f]+)>/gi))
      map.set(glyph!.toUpperCase(), fromUtf16(text!));
  }
  for (const [, section] of source.matchAll(/beginbfrange([\s\S]*?)endbfrange/g)) {
    for (const [, low, high, text] of section!.matchAll(/<([0-9a-f]+)> <([0-9a-f]+)> <([0-9a-f]+)>/gi)) {
      for (let glyph = Number.parseInt(low!, 16); glyph <= Number.parseInt(high!, 16); glyph++) {
        const code = Number.parseInt(text!, 16) + glyph - Number.parseInt(low!, 16);
        map.set(glyph.toString(16).toUpperCase().padStart(low!.length, '0'), String.fromCodePoint(code));
      }
    }
  }
  return map;
}

function paintedText(content: string, fonts: Map<string, Map<string, string>>): string {
  let font = new Map<string, string>();
  let text = '';
  for (const [token, name, hex, literal] of content.matchAll(
    /\/(F\d+) [\d.]+ Tf|<([0-9A-F]+)>|\(((?:\\.|[^()\\])*)\)|\bET\b/gi,
  )) {
    if (name) font = fonts.get(name) ?? new Map();
    else if (hex) text += read(hex.toUpperCase(), font);
    else if (literal !== undefined)
      text += read(Buffer.from(unescape(literal), 'latin1').toString('hex').toUpperCase(), font);
    else if (token === 'ET') text += '\n';
  }
  return text;
}

const unescape = (literal: string): string =>
  literal.replace(/\\([0-7]{1,3}|[\s\S])/g, (_, code: string) => {
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
    return { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }[code] ?? code;
  });

function read(hex: string, font: Map<string, string>): string {
  const width = [...font.keys()][0]?.length ?? 4;
  return (hex.match(new RegExp(`.{${width}}`, 'g')) ?? []).map((glyph) => font.get(glyph) ?? '').join('');
}
