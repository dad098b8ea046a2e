/**
 * Escapes values for the place in which they are written.
 *
 * What is harmless in a paragraph is not harmless in an unquoted attribute, an address, a style sheet or a script. So
 * the output is followed with a small HTML tokenizer while it grows, and every value is escaped for the state that
 * the text before it has reached. Data can then never open an element, an attribute or an address of its own.
 */
import { SafeText } from './values';

type State =
  | 'text'
  | 'tag-open'
  | 'tag-name'
  | 'before-attribute'
  | 'attribute-name'
  | 'before-value'
  | 'double-quoted'
  | 'single-quoted'
  | 'unquoted'
  | 'comment'
  | 'declaration'
  | 'raw-text';

/** What the inside of these elements is, up to their end tag. */
const rawTextElements = new Set([
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
  'noscript',
  'plaintext',
]);

const addressAttributes = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'xlink:href',
  'poster',
  'cite',
  'background',
  'data',
  'srcset',
  'ping',
  'manifest',
  'longdesc',
  'codebase',
  'from',
  'to',
  'values',
]);

const endOfName = /[\s/>]/g;

const html: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const reference = (character: string): string => `&#${character.codePointAt(0)};`;

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => html[character]!);

/** Escapes what ends an unquoted value, or has a meaning in one. */
const escapeUnquoted = (text: string): string => text.replace(/[\s=`"'<>]/g, reference);

const escapeScript = (text: string): string =>
  text.replace(/[^\w .,-]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );

const escapeStyle = (text: string): string =>
  text.replace(/[^\w #%.,-]/gu, (character) => `\\${character.codePointAt(0)!.toString(16)} `);

/** JSON that may stand in a script element. */
export const escapeJson = (json: string): string =>
  json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** An address that runs no code: relative, or of a scheme that is known to be harmless. */
function safeAddress(text: string, attribute: string): string {
  const [, scheme] = /^\s*([^\s/?#:]*?)\s*:/.exec(text.replace(/[\p{Cc}\p{Cf}]/gu, '')) ?? [];
  if (scheme === undefined) return text;
  if (/^(https?|mailto|tel|sms|cid)$/i.test(scheme)) return text;
  const isImage = /^\s*data:image\/(png|jpe?g|gif|webp|avif|bmp|svg\+xml|x-icon)[;,]/i.test(text);
  return isImage && ['src', 'srcset', 'poster', 'background', 'href', 'xlink:href'].includes(attribute)
    ? text
    : '#blocked';
}

/** The output of one template or macro, as it grows. */
export interface Output {
  /** Text written by the template's author. */
  write(text: string): void;
  /** A value of unknown origin. `json` is how it is written in a script. */
  writeValue(text: string, value: unknown, json: () => string): void;
  toString(): string;
}

/** Output that is no markup, where nothing is escaped. */
export class PlainOutput implements Output {
  private readonly parts: string[] = [];
  write(text: string): void {
    this.parts.push(text);
  }
  writeValue(text: string): void {
    this.parts.push(text);
  }
  toString(): string {
    return this.parts.join('');
  }
}

/** HTML output, where values are escaped for their place. */
export class HtmlOutput implements Output {
  private readonly parts: string[] = [];
  private state: State = 'text';
  private element = '';
  private isEndTag = false;
  private attribute = '';
  /** Whether something of the attribute's value is written already. */
  private valueStarted = false;
  /** The quote that a string of a script is in, or nothing. */
  private scriptQuote = '';

  toString(): string {
    return this.parts.join('');
  }

  write(text: string): void {
    this.parts.push(text);
    this.follow(text);
  }

  writeValue(text: string, value: unknown, json: () => string): void {
    const safeIn = value instanceof SafeText ? value.safeIn : undefined;
    if (safeIn === 'anywhere') return this.write(text);
    this.write(this.escape(text, safeIn, value, json));
  }

  private escape(
    text: string,
    safeIn: SafeText['safeIn'] | undefined,
    value: unknown,
    json: () => string,
  ): string {
    switch (this.state) {
      case 'text':
        return safeIn === 'html' ? text : escapeHtml(text);
      case 'double-quoted':
      case 'single-quoted':
        return safeIn === 'html' && !this.needsMore()
          ? this.quotable(text)
          : escapeHtml(this.inAttribute(text));
      case 'before-value':
      case 'unquoted':
        if (text === '') return this.state === 'before-value' ? '""' : '';
        return escapeUnquoted(
          safeIn === 'html' && !this.needsMore() ? text : escapeHtml(this.inAttribute(text)),
        );
      case 'raw-text':
        if (this.element === 'script') return this.inScript(text, safeIn, value, json);
        if (this.element === 'style') return escapeStyle(text);
        return safeIn === 'html' && !/[<>]/.test(text) ? text : escapeHtml(text);
      case 'comment':
      case 'declaration':
        return escapeHtml(text).replace(/-/g, '&#45;');
      case 'attribute-name':
      case 'before-attribute':
        return /^[a-z][a-z0-9-]*$/i.test(text) && !/^(on|style$|srcdoc$|href$|src$)/i.test(text) ? text : '';
      default:
        return /^[a-z][a-z0-9]*$/i.test(text) && !rawTextElements.has(text.toLowerCase()) ? text : 'x-';
    }
  }

  /** Whether the attribute holds a language of its own. */
  private needsMore(): boolean {
    return (
      this.attribute.startsWith('on') ||
      this.attribute === 'style' ||
      this.attribute === 'srcdoc' ||
      this.isAddress()
    );
  }

  private isAddress(): boolean {
    return addressAttributes.has(this.attribute);
  }

  private quotable(text: string): string {
    return text.replace(/["'<>]/g, (character) => html[character]!);
  }

  private inAttribute(text: string): string {
    if (this.attribute.startsWith('on')) return escapeScript(text);
    if (this.attribute === 'style') return escapeStyle(text);
    if (this.attribute === 'srcdoc') return escapeHtml(text);
    return this.isAddress() && !this.valueStarted ? safeAddress(text, this.attribute) : text;
  }

  private inScript(
    text: string,
    safeIn: SafeText['safeIn'] | undefined,
    value: unknown,
    json: () => string,
  ): string {
    if (this.scriptQuote !== '') return escapeScript(text);
    if (safeIn === 'script') return escapeJson(text);
    return typeof value === 'string' || value instanceof SafeText
      ? `"${escapeScript(text)}"`
      : escapeJson(json());
  }

  /** Moves the state past text that was written. */
  private follow(text: string): void {
    let index = 0;
    while (index < text.length) index = this.step(text, index);
  }

  private step(text: string, index: number): number {
    const character = text[index]!;
    switch (this.state) {
      case 'text':
        return this.afterText(text, index);
      case 'tag-open':
        return this.afterTagOpen(text, index);
      case 'tag-name':
        return this.inTagName(text, index);
      case 'before-attribute':
        if (character === '>') return this.endTag(index);
        if (/[\s/]/.test(character)) return index + 1;
        this.attribute = character.toLowerCase();
        this.state = 'attribute-name';
        return index + 1;
      case 'attribute-name':
        return this.inAttributeName(character, index);
      case 'before-value':
        if (/\s/.test(character)) return index + 1;
        if (character === '>') return this.endTag(index);
        this.valueStarted = false;
        this.state = character === '"' ? 'double-quoted' : character === "'" ? 'single-quoted' : 'unquoted';
        return this.state === 'unquoted' ? index : index + 1;
      case 'double-quoted':
      case 'single-quoted':
        return this.inQuotes(text, index);
      case 'unquoted':
        if (character === '>') return this.endTag(index);
        if (/\s/.test(character)) this.state = 'before-attribute';
        this.valueStarted = true;
        return index + 1;
      case 'comment':
        return this.until(text, index, '-->');
      case 'declaration':
        return this.until(text, index, '>');
      case 'raw-text':
        return this.inRawText(text, index);
    }
  }

  private afterText(text: string, index: number): number {
    const open = text.indexOf('<', index);
    if (open === -1) return text.length;
    this.state = 'tag-open';
    return open + 1;
  }

  private afterTagOpen(text: string, index: number): number {
    const character = text[index]!;
    this.isEndTag = character === '/';
    this.element = '';
    if (character === '!') {
      this.state = text.startsWith('!--', index) ? 'comment' : 'declaration';
      return index + (this.state === 'comment' ? 3 : 1);
    }
    if (character === '?') {
      this.state = 'declaration';
      return index + 1;
    }
    if (!/[a-z/]/i.test(character)) {
      this.state = 'text';
      return index;
    }
    this.state = 'tag-name';
    return this.isEndTag ? index + 1 : index;
  }

  private inTagName(text: string, index: number): number {
    endOfName.lastIndex = index;
    const end = endOfName.exec(text)?.index;
    this.element += text.slice(index, end).toLowerCase();
    if (end === undefined) return text.length;
    this.state = 'before-attribute';
    return text[end] === '>' ? end : end + 1;
  }

  private inAttributeName(character: string, index: number): number {
    if (character === '=') {
      this.state = 'before-value';
      this.attribute = this.attribute.trim();
      this.valueStarted = false;
      return index + 1;
    }
    if (character === '>') return this.endTag(index);
    if (/[\s/]/.test(character)) {
      // "name = value" is allowed: an equals sign after spaces still belongs to this name.
      this.attribute = `${this.attribute.trimEnd()} `;
      return index + 1;
    }
    if (this.attribute.endsWith(' ')) {
      this.attribute = '';
    }
    this.attribute += character.toLowerCase();
    return index + 1;
  }

  private inQuotes(text: string, index: number): number {
    const quote = this.state === 'double-quoted' ? '"' : "'";
    const end = text.indexOf(quote, index);
    if (end !== index) this.valueStarted = true;
    if (end === -1) return text.length;
    this.state = 'before-attribute';
    return end + 1;
  }

  private endTag(index: number): number {
    const isRaw = !this.isEndTag && rawTextElements.has(this.element);
    this.state = isRaw ? 'raw-text' : 'text';
    this.scriptQuote = '';
    return index + 1;
  }

  private until(text: string, index: number, end: string): number {
    const found = text.indexOf(end, index);
    if (found === -1) return text.length;
    this.state = 'text';
    return found + end.length;
  }

  private inRawText(text: string, index: number): number {
    const close = `</${this.element}`;
    const end = text.slice(index).toLowerCase().indexOf(close);
    const inside = end === -1 ? text.slice(index) : text.slice(index, index + end);
    if (this.element === 'script') this.followScript(inside);
    if (end === -1) return text.length;
    this.state = 'tag-open';
    return index + end + 1;
  }

  private followScript(script: string): void {
    for (let index = 0; index < script.length; index++) {
      const character = script[index]!;
      if (this.scriptQuote === '') {
        if (/["'`]/.test(character)) this.scriptQuote = character;
      } else if (character === '\\') {
        index++;
      } else if (character === this.scriptQuote) {
        this.scriptQuote = '';
      }
    }
  }
}
