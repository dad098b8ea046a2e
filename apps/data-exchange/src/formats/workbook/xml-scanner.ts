import { SaxesParser } from 'saxes';
import { UnreadableFile } from '../unreadable-file.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

/** The elements and texts of a document, in their order. Names are without their namespace prefix. */
export interface XmlListener {
  open?(name: string, attributes: XmlAttributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

export const TEXT_LENGTH_MAX = 1024 * 1024;
const DEPTH_MAX = 64;

/**
 * Reads XML while it streams through. The parser buffers a text, a tag or a comment until its end, so the input between
 * two of its events is limited. A document type declaration is refused.
 */
export class XmlScanner {
  private depth = 0;
  /** Characters since the last event of the parser. */
  private unreportedLength = 0;
  private readonly parser = new SaxesParser({ xmlns: false, position: false });

  constructor(listener: XmlListener) {
    const { parser } = this;
    parser.on('error', () => {
      throw damaged();
    });
    parser.on('doctype', () => {
      throw new UnreadableFile('The workbook declares a document type, which workbooks do not.');
    });
    parser.on('opentag', ({ name, attributes }) => {
      if (++this.depth > DEPTH_MAX) throw damaged();
      this.unreportedLength = 0;
      listener.open?.(withoutPrefix(name), attributes);
    });
    const tell = (text: string) => {
      this.unreportedLength = 0;
      if (this.depth > 0) listener.text?.(text);
    };
    parser.on('text', tell);
    parser.on('cdata', tell);
    parser.on('closetag', ({ name }) => {
      this.depth--;
      listener.close?.(withoutPrefix(name));
    });
  }

  push(chunk: string): void {
    this.unreportedLength += chunk.length;
    this.parser.write(chunk);
    if (this.unreportedLength > TEXT_LENGTH_MAX) throw tooLong();
  }

  end(): void {
    this.parser.close();
  }
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

/** The value of an attribute, with or without a prefix of its name. */
export function attributeOf(attributes: XmlAttributes, name: string): string | undefined {
  if (name in attributes) return attributes[name];
  const prefixed = Object.keys(attributes).find((key) => key.endsWith(`:${name}`));
  return prefixed === undefined ? undefined : attributes[prefixed];
}

const damaged = () => new UnreadableFile('The workbook is damaged: its XML is not well-formed.');
export const tooLong = (): UnreadableFile =>
  new UnreadableFile('The workbook contains a text that is longer than a cell may be.');
