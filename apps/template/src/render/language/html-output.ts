/**
 * Escapes values for the place in which they are written.
 *
 * What is harmless in a paragraph is not harmless in an unquoted attribute, an address, a style sheet or a script. So
 * the output is followed with a tokenizer of HTML while it grows, and every value is escaped for the state that the
 * text before it has reached. An address is judged when its attribute ends, since several values and the text between
 * them make it. Data can then never open an element, an attribute, a scheme or a script of its own.
 *
 * Whether the inside of a title is markup depends on the tree that a browser makes: in SVG it is, in most of a page it is
 * not, and a broken template does not tell. From there on the output is followed in both readings until they are the same
 * again, and a value is written where it is harmless in both.
 */
import { BLOCKED_ADDRESS, decodeAttribute, isAddress, isSafeAddress } from './address';
import {
  escapeComment,
  escapeHtml,
  escapeJson,
  escapeQuotes,
  escapeScript,
  escapeStyle,
  escapeUnquoted,
} from './escape';
import type { Output } from './output';
import { ScriptPosition } from './script-position';
import { StylePosition } from './style-position';
import { SafeText } from './values';

type State =
  | 'text'
  | 'tag-open'
  | 'end-tag-open'
  | 'tag-name'
  | 'before-attribute'
  | 'attribute-name'
  | 'after-attribute-name'
  | 'before-value'
  | 'double-quoted'
  | 'single-quoted'
  | 'unquoted'
  | 'comment'
  | 'declaration'
  | 'raw-text';

type SafeIn = SafeText['safeIn'] | undefined;

/** The inside of these elements is text up to their end tag, but for a browser that does not expect them there. */
const rawTextElements = new Set([
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
  'noscript',
  'plaintext',
]);

/** The elements of SVG and of MathML whose inside is HTML again. */
const htmlInForeign: Readonly<Record<string, readonly string[]>> = {
  svg: ['title', 'desc', 'foreignobject'],
  math: ['mi', 'mo', 'mn', 'ms', 'mtext'],
};

/** Attributes that data may turn on. */
const switchAttributes = new Set([
  'checked',
  'disabled',
  'hidden',
  'multiple',
  'nowrap',
  'open',
  'readonly',
  'required',
  'reversed',
  'selected',
]);

/** Elements that data may choose between. */
export const choosableElements = new Set(
  'b code div dd dl dt em h1 h2 h3 h4 h5 h6 i li ol p section small span strong table tbody td tfoot th thead tr u ul'.split(
    ' ',
  ),
);

const endOfName = /[\t\n\f\r />]/g;
const endOfUnquoted = /[\t\n\f\r >]/g;
const isBlank = (character: string): boolean => /[\t\n\f\r ]/.test(character);

/** How much of the end of a text can be the beginning of what ends a comment or a raw text. */
const CARRY_MAX = 16;

/** The value of an attribute that is judged when it ends. */
interface WrittenValue {
  parts: string[];
  /** What the template itself wrote before the first data, or undefined while there is no data. */
  prefix: string | undefined;
  /** The document that a `srcdoc` with data holds. */
  document: HtmlOutput | undefined;
}

export class HtmlOutput implements Output {
  private readonly parts: string[] = [];
  private state: State = 'text';
  private element = '';
  private isEndTag = false;
  /** Whether the last character of the tag is a slash. */
  private isClosed = false;
  private attribute = '';
  private written: WrittenValue | undefined;
  /** The end of the comment or raw text so far. */
  private carry = '';
  /** How deep a script is in `<!--` and `<script` of its own, where its end tag does not count. */
  private scriptDepth = 0;
  private script = new ScriptPosition();
  private style = new StylePosition();
  /** Script or style that was written since the last value in it. */
  private unfollowed: string[] = [];
  /** Open elements of SVG and MathML that decide whether what is in them is HTML. */
  private foreign: string[] = [];
  /** The same output in the other reading, and where it begins in the text that is followed. */
  private other: HtmlOutput | undefined;
  private otherStart = 0;
  /** The text that is followed, and how much of it is in the output. */
  private text = '';
  private taken = 0;

  /** @param reading of the elements with raw text: as what is around them tells, or as one of the two, whatever it tells */
  constructor(private readonly reading: 'as it seems' | 'raw' | 'markup' = 'as it seems') {}

  toString(): string {
    return [...this.parts, ...(this.written ? [this.judged(this.written)] : [])].join('');
  }

  write(text: string): void {
    this.text = text;
    this.taken = 0;
    this.otherStart = 0;
    for (let index = 0; index < text.length;) index = this.step(text, index);
    this.take(text.length);
    this.other?.write(text.slice(this.otherStart));
    if (this.state === 'text' && this.other?.state === 'text') this.other = undefined;
  }

  writeValue(text: string, value: unknown, json: () => string): void {
    const safeIn = value instanceof SafeText ? value.safeIn : undefined;
    if (safeIn === 'anywhere') return this.write(text);
    this.beginData();
    if (this.isInDocument()) return this.documentOf(this.written!).writeValue(text, value, json);
    this.markData();
    this.write(this.isSameInOther() ? this.escape(text, safeIn, value, json) : '');
    // The markup of a macro may end inside of an address.
    if (this.written && this.written.prefix === undefined) this.written.prefix = '';
  }

  private beginData(): void {
    if (this.state === 'before-value') this.beginValue('unquoted');
    this.other?.beginData();
  }

  /** Whether what is written here is harmless in the other reading too: it is text there, or in the same place. */
  private isSameInOther(): boolean {
    if (!this.other) return true;
    const { state, element, attribute } = this.other;
    const isText = state === 'text' || (state === 'raw-text' && rawTextElements.has(element));
    return isText || (state === this.state && element === this.element && attribute === this.attribute);
  }

  private escape(text: string, safeIn: SafeIn, value: unknown, json: () => string): string {
    switch (this.state) {
      case 'text':
        return safeIn === 'html' ? text : escapeHtml(text);
      case 'double-quoted':
      case 'single-quoted':
        return this.inAttribute(text, safeIn, value, json);
      case 'unquoted':
        return escapeUnquoted(this.inAttribute(text, safeIn, value, json));
      case 'raw-text':
        return this.inRawText(text, safeIn, value, json);
      case 'comment':
      case 'declaration':
        return escapeComment(text);
      case 'attribute-name':
        return /^(data|aria)-/.test(this.attribute) && /^[a-z0-9-]+$/i.test(text) ? text : '';
      case 'before-attribute':
      case 'after-attribute-name':
        return switchAttributes.has(text.toLowerCase()) ? text : '';
      case 'tag-open':
      case 'end-tag-open':
        return choosableElements.has(text.toLowerCase()) ? text : 'x-';
      case 'tag-name':
        return /^\d{1,3}$/.test(text) ? text : '';
      case 'before-value':
        return '';
    }
  }

  private inAttribute(text: string, safeIn: SafeIn, value: unknown, json: () => string): string {
    if (this.attribute.startsWith('on')) return escapeHtml(this.inScript(text, safeIn, value, json));
    if (this.attribute === 'style') return escapeHtml(this.inStyle(text));
    return safeIn === 'html' ? escapeQuotes(text) : escapeHtml(text);
  }

  private inRawText(text: string, safeIn: SafeIn, value: unknown, json: () => string): string {
    if (this.isForeign()) return this.inForeignText(text);
    if (this.element === 'script') return this.inScript(text, safeIn, value, json);
    if (this.element === 'style') return this.inStyle(text);
    return safeIn === 'html' && !/[<>]/.test(text) ? text : escapeHtml(text);
  }

  /** In a style or script of SVG a browser reads markup: only words are written, and only where there is none. */
  private inForeignText(text: string): string {
    const isStyle = this.element === 'style' && !this.unfollowed.some((part) => part.includes('<'));
    return isStyle ? text.replace(/[^\w.,#%-]/g, '') : '';
  }

  private inScript(text: string, safeIn: SafeIn, value: unknown, json: () => string): string {
    for (const part of this.unfollowed.splice(0)) this.script.follow(part);
    if (!this.script.isInCode) return escapeScript(text);
    if (safeIn === 'script') return escapeJson(text);
    return typeof value === 'string' || value instanceof SafeText
      ? `"${escapeScript(text)}"`
      : escapeJson(json());
  }

  private inStyle(text: string): string {
    for (const part of this.unfollowed.splice(0)) this.style.follow(part);
    return escapeStyle(this.style.admits(text) ? text : BLOCKED_ADDRESS);
  }

  /** Whether the attribute holds a script or a style sheet. */
  private holdsLanguage(): boolean {
    return this.attribute.startsWith('on') || this.attribute === 'style';
  }

  private isInDocument(): boolean {
    return this.written !== undefined && this.attribute === 'srcdoc';
  }

  /** The document inside of an attribute, with what the template wrote of it since the last value. */
  private documentOf(written: WrittenValue): HtmlOutput {
    written.document ??= new HtmlOutput();
    written.document.write(decodeAttribute(written.parts.join('')));
    written.parts = [];
    return written.document;
  }

  private markData(): void {
    if (this.written) this.written.prefix ??= this.written.parts.join('');
  }

  private beginValue(state: State): void {
    this.state = state;
    this.beginLanguage();
    this.written = { parts: [], prefix: undefined, document: undefined };
  }

  private beginLanguage(): void {
    this.script = new ScriptPosition();
    this.style = new StylePosition();
    this.unfollowed = [];
  }

  private endValue(index: number): void {
    if (this.written) {
      this.take(index);
      this.parts.push(this.judged(this.written));
      this.written = undefined;
    }
    this.state = 'before-attribute';
  }

  /** What is written of a value: all of it, or nothing where it would run code that the template did not write. */
  private judged(written: WrittenValue): string {
    if (written.document) {
      const document = escapeHtml(this.documentOf(written).toString());
      return this.state === 'unquoted' ? escapeUnquoted(document) : document;
    }
    const value = written.parts.join('');
    if (written.prefix === undefined) return value;
    if (value === '') return this.state === 'unquoted' ? '""' : '';
    return !isAddress(this.element, this.attribute) ||
      isSafeAddress(this.element, this.attribute, value, written.prefix)
      ? value
      : BLOCKED_ADDRESS;
  }

  /** Puts the text that is followed into the output, up to an index. */
  private take(end: number): void {
    if (end <= this.taken) return;
    const text = this.text.slice(this.taken, end);
    this.taken = end;
    if (!this.written) {
      this.parts.push(text);
      return;
    }
    this.written.parts.push(text);
    if (this.holdsLanguage()) this.unfollowed.push(decodeAttribute(text));
  }

  private step(text: string, index: number): number {
    const character = text[index]!;
    switch (this.state) {
      case 'text':
        return this.afterText(text, index);
      case 'tag-open':
        return this.afterTagOpen(character, index);
      case 'end-tag-open':
        this.state = /[a-z]/i.test(character) ? 'tag-name' : character === '>' ? 'text' : 'declaration';
        return character === '>' ? index + 1 : index;
      case 'tag-name':
        return this.afterTagName(text, index);
      case 'before-attribute':
        if (character === '>') return this.endTag(index);
        this.isClosed = character === '/';
        if (this.isClosed || isBlank(character)) return index + 1;
        this.attribute = character.toLowerCase();
        this.state = 'attribute-name';
        return index + 1;
      case 'attribute-name':
      case 'after-attribute-name':
        return this.afterAttributeName(text, index);
      case 'before-value':
        return this.beforeValue(text, index);
      case 'double-quoted':
      case 'single-quoted':
        return this.inQuotes(text, index);
      case 'unquoted':
        return this.inUnquoted(text, index);
      case 'comment':
        return this.inComment(text, index);
      case 'declaration':
        return this.inDeclaration(text, index);
      case 'raw-text':
        return this.afterRawText(text, index);
    }
  }

  private afterText(text: string, index: number): number {
    const open = text.indexOf('<', index);
    if (open === -1) return text.length;
    this.state = 'tag-open';
    return open + 1;
  }

  private afterTagOpen(character: string, index: number): number {
    this.isEndTag = character === '/';
    this.isClosed = false;
    this.element = '';
    this.carry = '';
    if (character === '/') this.state = 'end-tag-open';
    else if (character === '!' || character === '?') this.state = 'declaration';
    else this.state = /[a-z]/i.test(character) ? 'tag-name' : 'text';
    if (character === '!') this.carry = '<!';
    return this.state === 'tag-name' || this.state === 'text' ? index : index + 1;
  }

  private afterTagName(text: string, index: number): number {
    const end = indexOf(endOfName, text, index);
    this.element += text.slice(index, end).toLowerCase();
    if (end < text.length) this.state = 'before-attribute';
    return end;
  }

  private afterAttributeName(text: string, index: number): number {
    const character = text[index]!;
    if (character === '>') return this.endTag(index);
    if (character === '=') this.state = 'before-value';
    else if (isBlank(character)) this.state = 'after-attribute-name';
    else if (character === '/') {
      this.state = 'before-attribute';
      return index;
    } else {
      this.attribute = (this.state === 'attribute-name' ? this.attribute : '') + character.toLowerCase();
      this.state = 'attribute-name';
    }
    return index + 1;
  }

  private beforeValue(text: string, index: number): number {
    const character = text[index]!;
    if (isBlank(character)) return index + 1;
    if (character === '>') return this.endTag(index);
    const isQuoted = character === '"' || character === "'";
    const start = isQuoted ? index + 1 : index;
    const state = character === '"' ? 'double-quoted' : isQuoted ? 'single-quoted' : 'unquoted';
    this.state = state;
    if (this.holdsLanguage() || this.attribute === 'srcdoc' || isAddress(this.element, this.attribute)) {
      this.take(start);
      this.beginValue(state);
    }
    return start;
  }

  private inQuotes(text: string, index: number): number {
    const end = text.indexOf(this.state === 'double-quoted' ? '"' : "'", index);
    if (end === -1) return text.length;
    this.endValue(end);
    return end + 1;
  }

  private inUnquoted(text: string, index: number): number {
    const end = indexOf(endOfUnquoted, text, index);
    if (end === text.length) return end;
    this.endValue(end);
    return end;
  }

  private endTag(index: number): number {
    this.state = !this.isEndTag && this.beginsRawText() ? 'raw-text' : 'text';
    if (!this.isEndTag && rawTextElements.has(this.element)) this.followOther(index + 1);
    // Of SVG and MathML, an element that closes itself has no content.
    if (this.isForeign() && this.isClosed) this.state = 'text';
    if (this.isEndTag) {
      const open = this.foreign.lastIndexOf(this.element);
      if (open !== -1) this.foreign.length = open;
    } else if (!this.isClosed && (isForeignRoot(this.element) || this.beginsHtmlInForeign()))
      this.foreign.push(this.element);
    this.carry = '';
    this.scriptDepth = 0;
    this.beginLanguage();
    return index + 1;
  }

  private beginsRawText(): boolean {
    if (this.element === 'script' || this.element === 'style') return true;
    if (!rawTextElements.has(this.element)) return false;
    if (this.reading !== 'as it seems') return this.reading === 'raw';
    return !this.isForeign() && this.element !== 'noscript';
  }

  /** Begins to follow the other reading of an element's inside, where it is not followed yet. */
  private followOther(start: number): void {
    if (this.reading !== 'as it seems' || this.other) return;
    const isRaw = this.state === 'raw-text';
    this.other = new HtmlOutput(isRaw ? 'markup' : 'raw');
    this.other.element = this.element;
    this.other.state = isRaw ? 'text' : 'raw-text';
    this.otherStart = start;
  }

  /** Nothing but scripts and style sheets is raw text for a browser in SVG and MathML. */
  private isForeign(): boolean {
    return isForeignRoot(this.foreign.at(-1));
  }

  private beginsHtmlInForeign(): boolean {
    return htmlInForeign[this.foreign.at(-1) ?? '']?.includes(this.element) ?? false;
  }

  private inDeclaration(text: string, index: number): number {
    const start = (this.carry + text.slice(index, index + 2)).slice(0, 4);
    if (this.carry !== '' && '<!--'.startsWith(start)) {
      const length = start.length - this.carry.length;
      this.carry = start;
      if (start === '<!--') this.state = 'comment';
      return index + length;
    }
    this.carry = '';
    const end = text.indexOf('>', index);
    if (end === -1) return text.length;
    this.state = 'text';
    return end + 1;
  }

  private inComment(text: string, index: number): number {
    const before = this.carry.length;
    const comment = this.carry + text.slice(index);
    // Dashes of the beginning count for "-->", not for "--!>".
    const end = (before < CARRY_MAX ? /-->|(?<!^<!)--!>/ : /-->|--!>/).exec(comment);
    this.carry = comment.slice(-CARRY_MAX);
    if (!end) return text.length;
    this.state = 'text';
    return index + end.index + end[0].length - before;
  }

  private afterRawText(text: string, index: number): number {
    const before = this.carry.length;
    const raw = this.carry + text.slice(index);
    const end = this.endOfRawText(raw, before);
    const inside = text.slice(index, end === -1 ? text.length : Math.max(index, index + end - before));
    if (this.element === 'script' || this.element === 'style') this.unfollowed.push(inside);
    this.carry = raw.slice(-CARRY_MAX);
    if (end === -1) return text.length;
    this.state = 'before-attribute';
    this.isEndTag = true;
    return index + end + `</${this.element}`.length - before;
  }

  /** Where the end tag of a raw text begins, or -1; `passed` characters of it were seen before. */
  private endOfRawText(raw: string, passed: number): number {
    if (this.element === 'plaintext') return -1;
    const ends = endsOfRawText(this.element);
    for (let found = ends.exec(raw); found; found = ends.exec(raw)) {
      const end = found.index + found[0].length;
      // The dashes of "<!--" can be those of "-->".
      if (found[0] === '<!--') ends.lastIndex = found.index + 2;
      // A name needs the character after it, so it is new where that character is.
      if (end + (found[2] === undefined ? 0 : 1) <= passed) continue;
      if (found[2] !== undefined && found[1] === '/') {
        if (this.element !== 'script' || this.scriptDepth < 2) return found.index;
        this.scriptDepth = 1;
      } else if (found[0] === '-->') {
        this.scriptDepth = 0;
      } else if (found[0] === '<!--') {
        this.scriptDepth = Math.max(1, this.scriptDepth);
      } else if (this.scriptDepth === 1) {
        this.scriptDepth = 2;
      }
    }
    return -1;
  }
}

const isForeignRoot = (element = ''): boolean => Object.hasOwn(htmlInForeign, element);

const endsOfRawText = (element: string): RegExp =>
  new RegExp(`<!--|-->|<(/?)(${element})(?=[\\t\\n\\f\\r />])`, 'gi');

/** Where a pattern is found, or the end of the text. */
function indexOf(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index;
  return pattern.exec(text)?.index ?? text.length;
}
