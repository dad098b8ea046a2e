import { UnreadableFile } from '../unreadable-file.ts';
import { unescapeText } from './cell-text.ts';
import { TEXT_LENGTH_MAX, tooLong, type XmlListener } from './xml-scanner.ts';

/** A scratch file of the reader's own. */
export interface Scratch {
  write(bytes: Buffer, position: number): void;
  read(length: number, position: number): Buffer;
}

const STRINGS_MAX = 10_000_000;
/** Small, because cells may refer to texts in any order. */
const BLOCK_BYTES = 4 * 1024;
const BLOCKS_KEPT_MAX = 2_048;
const BUFFERED_BYTES_MAX = 256 * 1024;
/** Ends are kept in pieces: to copy millions of them to a larger place would take three times their memory. */
const ENDS_OF_PIECE = 64 * 1024;

/** The texts that cells share, stored in a file: any number of them needs the same little memory. */
export class SharedStrings {
  /** Where each text ends in the file. */
  private readonly ends: Float64Array[] = [];
  private count = 0;
  private unwritten: Buffer[] = [];
  private unwrittenBytes = 0;
  private writtenBytes = 0;
  private readonly blocks = new Map<number, Buffer>();
  private readonly scratch: Scratch;

  constructor(scratch: Scratch) {
    this.scratch = scratch;
  }

  /** Reads the texts of `sharedStrings.xml` without the phonetic texts of Chinese and Japanese. */
  listener(): XmlListener {
    let text = '';
    let isText = false;
    let isPhonetic = false;
    return {
      open: (name) => {
        if (name === 'si') text = '';
        else if (name === 'rPh') isPhonetic = true;
        else if (name === 't') isText = !isPhonetic;
      },
      text: (piece) => {
        if (isText) text += piece;
        if (text.length > TEXT_LENGTH_MAX) throw tooLong();
      },
      close: (name) => {
        if (name === 't') isText = false;
        else if (name === 'rPh') isPhonetic = false;
        else if (name === 'si') this.add(unescapeText(text));
      },
    };
  }

  add(text: string): void {
    if (this.count >= STRINGS_MAX) throw new UnreadableFile('The workbook has too many different texts.');
    const bytes = Buffer.from(text);
    if (this.count % ENDS_OF_PIECE === 0) this.ends.push(new Float64Array(ENDS_OF_PIECE));
    this.ends.at(-1)![this.count % ENDS_OF_PIECE] = this.writtenBytes + this.unwrittenBytes + bytes.length;
    this.count++;
    if (bytes.length === 0) return;
    this.unwritten.push(bytes);
    this.unwrittenBytes += bytes.length;
    if (this.unwrittenBytes > BUFFERED_BYTES_MAX) this.flush();
  }

  /** @throws UnreadableFile for a text that is not there. */
  get(index: number): string {
    if (!(index >= 0 && index < this.count && Number.isInteger(index)))
      throw new UnreadableFile('A cell refers to a text that is not there.');
    this.flush();
    const start = index === 0 ? 0 : this.endOf(index - 1);
    return this.read(start, this.endOf(index)).toString();
  }

  private endOf(index: number): number {
    return this.ends[Math.floor(index / ENDS_OF_PIECE)]![index % ENDS_OF_PIECE]!;
  }

  private flush(): void {
    if (this.unwrittenBytes === 0) return;
    this.scratch.write(Buffer.concat(this.unwritten), this.writtenBytes);
    this.writtenBytes += this.unwrittenBytes;
    this.unwritten = [];
    this.unwrittenBytes = 0;
  }

  private read(start: number, end: number): Buffer {
    const first = Math.floor(start / BLOCK_BYTES);
    if (end <= (first + 1) * BLOCK_BYTES)
      return this.block(first).subarray(start - first * BLOCK_BYTES, end - first * BLOCK_BYTES);
    return this.scratch.read(end - start, start);
  }

  private block(number: number): Buffer {
    let block = this.blocks.get(number);
    if (!block) {
      if (this.blocks.size === BLOCKS_KEPT_MAX) this.blocks.delete(this.blocks.keys().next().value!);
      block = this.scratch.read(BLOCK_BYTES, number * BLOCK_BYTES);
      this.blocks.set(number, block);
    }
    return block;
  }
}
