import { UnreadableFile } from '../unreadable-file.ts';

/** What is told of a document, in its order. Names are without their namespace prefix. */
export interface XmlListener {
  open?(name: string, attributes: string): void;
  text?(text: string): void;
  close?(name: string): void;
}

const TAG = /<(\/?)([^\s/>"'<=]+)([^"'<>]*(?:"[^"<]*"[^"'<>]*|'[^'<]*'[^"'<>]*)*)>/y;
const TAG_LENGTH_MAX = 64 * 1024;
export const TEXT_LENGTH_MAX = 1024 * 1024;
const DEPTH_MAX = 64;
const ENTITY_LENGTH_MAX = 12;

/**
 * Reads XML as it streams by, with a bound on everything that it keeps. There is no document type: entities can neither
 * expand nor reach for files, because whoever declares some is refused.
 */
export class XmlScanner {
  private rest = '';
  private hasRoot = false;
  private readonly openNames: string[] = [];
  private readonly listener: XmlListener;

  constructor(listener: XmlListener) {
    this.listener = listener;
  }

  push(chunk: string): void {
    const text = this.rest === '' ? chunk : this.rest + chunk;
    let at = 0;
    while (at < text.length) {
      const next = text.charCodeAt(at) === 60 ? this.readMarkup(text, at) : this.readText(text, at);
      if (next < 0) break;
      at = next;
    }
    this.rest = text.slice(at);
    if (this.rest.length > TEXT_LENGTH_MAX) throw tooLong();
  }

  end(): void {
    if (!this.hasRoot || this.rest.trim() !== '' || this.openNames.length > 0) throw damaged();
  }

  /** Answers where the text goes on, or -1 where more of it is needed first. */
  private readText(text: string, at: number): number {
    const end = text.indexOf('<', at);
    if (end >= 0) {
      this.tell(text.slice(at, end));
      return end;
    }
    // What may be the beginning of an entity waits for its end, and a CR for its LF.
    const entity = text.indexOf('&', Math.max(at, text.length - ENTITY_LENGTH_MAX));
    const safe = entity >= 0 ? entity : text.endsWith('\r') ? text.length - 1 : text.length;
    if (safe === at) return -1;
    this.tell(text.slice(at, safe));
    return safe;
  }

  private tell(raw: string): void {
    if (this.openNames.length === 0) {
      if (raw.trim() !== '') throw damaged();
      return;
    }
    const text = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw;
    this.listener.text?.(decodeEntities(text));
  }

  private readMarkup(text: string, at: number): number {
    const second = text.charCodeAt(at + 1);
    if (second === 33) return this.readDeclaration(text, at);
    if (second === 63) return after(text, '?>', at + 2);
    TAG.lastIndex = at;
    const match = TAG.exec(text);
    if (!match) {
      if (text.length - at > TAG_LENGTH_MAX) throw damaged();
      return -1;
    }
    const [whole, slash, qualified, attributes] = match as unknown as [string, string, string, string];
    const name = withoutPrefix(qualified);
    if (slash !== '') this.close(name);
    else {
      this.hasRoot = true;
      this.openNames.push(name);
      if (this.openNames.length > DEPTH_MAX) throw damaged();
      this.listener.open?.(name, attributes);
      if (attributes.endsWith('/')) this.close(name);
    }
    return at + whole.length;
  }

  private close(name: string): void {
    if (this.openNames.pop() !== name) throw damaged();
    this.listener.close?.(name);
  }

  private readDeclaration(text: string, at: number): number {
    if (text.startsWith('<!--', at)) return after(text, '-->', at + 4);
    if (text.startsWith('<![CDATA[', at)) {
      const end = text.indexOf(']]>', at);
      if (end < 0) return -1;
      this.listener.text?.(text.slice(at + 9, end));
      return end + 3;
    }
    if (text.length - at < 9) return -1;
    throw new UnreadableFile('The workbook declares a document type, which workbooks do not.');
  }
}

function after(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at < 0 ? -1 : at + end.length;
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{1,8});?|&/gi, (whole, name: string | undefined) => {
    if (name === undefined || !whole.endsWith(';')) throw damaged();
    if (!name.startsWith('#')) return entities[name] ?? fail();
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code <= 0x10ffff ? String.fromCodePoint(code) : fail();
  });
}

function fail(): never {
  throw damaged();
}

const patterns = new Map<string, RegExp>();

/** The value of an attribute, whatever the prefix of its name. */
export function attributeOf(attributes: string, name: string): string | undefined {
  let pattern = patterns.get(name);
  if (!pattern) {
    pattern = new RegExp(`(?:^|\\s)(?:[\\w-]+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`);
    patterns.set(name, pattern);
  }
  const match = pattern.exec(attributes);
  return match ? decodeEntities(match[1] ?? match[2]!) : undefined;
}

const damaged = () => new UnreadableFile('The workbook is damaged: its XML is not well-formed.');
export const tooLong = (): UnreadableFile =>
  new UnreadableFile('The workbook holds a text that is longer than a cell may be.');
