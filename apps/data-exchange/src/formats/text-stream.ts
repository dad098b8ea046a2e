import { Transform, type Readable } from 'node:stream';
import iconv from 'iconv-lite';
import type { CsvFormat } from './file-format';

/** Decodes a stream of bytes; a byte order mark is left out, a byte that is no character becomes U+FFFD. */
export async function* decodeText(
  bytes: Readable,
  encoding: CsvFormat['encoding'],
  { isStart = true }: { isStart?: boolean } = {},
): AsyncGenerator<string> {
  // Only the start of a file has a byte order mark; anywhere else it is a character.
  const decoder = new TextDecoder(encoding, { ignoreBOM: !isStart });
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

/** Encodes text as a file has it, with its byte order mark where it has one. */
export function encodeText({
  encoding,
  hasByteOrderMark,
}: Pick<CsvFormat, 'encoding' | 'hasByteOrderMark'>): Transform {
  const encoder = iconv.getEncoder(encoding, { addBOM: hasByteOrderMark });
  const send = (bytes: Buffer | undefined): Buffer | null => (bytes && bytes.length > 0 ? bytes : null);
  return new Transform({
    decodeStrings: false,
    transform(chunk: string | Buffer, _encoding, done) {
      done(null, send(encoder.write(String(chunk))) ?? undefined);
    },
    flush(done) {
      done(null, send(encoder.end()) ?? undefined);
    },
  });
}
