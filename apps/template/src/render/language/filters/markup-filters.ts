import { escapeHtml, escapeJson } from '../escape';
import type { FilterContext } from '../filter-context';
import { operandOf } from '../operators';
import { isText, memberOf, SafeText, toJson, type Value } from '../values';
import { argument, textOf, type Filter } from './filter';

const escape: Filter = (input, _args, _named, context) =>
  input instanceof SafeText ? input : forceEscape(input, [], new Map(), context);

const forceEscape: Filter = (input, _args, _named, context) => {
  const text = context.text(input);
  context.meter.make(text.length);
  return new SafeText(escapeHtml(text), 'html');
};

const urlencode: Filter = (input, _args, _named, context) => {
  const encode = (value: Value): string => encodeURIComponent(context.word(value).toWellFormed());
  const pair = (key: Value, value: Value): string => `${encode(key)}=${encode(value)}`;
  if (input instanceof Map) return [...input].map(([key, value]) => pair(key, value)).join('&');
  if (Array.isArray(input))
    return input.map((item) => pair(memberOf(item, '0'), memberOf(item, '1'))).join('&');
  return isText(input) ? encode(input) : '';
};

/** Where the address in a word begins, and what its link begins with; undefined where the word has none. */
function linkIn(word: string): { address: string; before: string } | undefined {
  const [, address = word] = /^(?:\(|<|&lt;)?(.*?)(?:\.|,|\)|\n|&gt;)?$/.exec(word) ?? [];
  if (/^https?:\/\/.*$/.test(address)) return { address, before: '' };
  if (address.startsWith('www.')) return { address, before: 'http://' };
  if (/^[\w.!#$%&'*+\-/=?^`{|}~]+@[a-z\d-]+(\.[a-z\d-]+)+$/i.test(address))
    return { address, before: 'mailto:' };
  return /\.(?:org|net|com)(?::|\/|$)/.test(address) ? { address, before: 'http://' } : undefined;
}

const urlize: Filter = (input, args, named, context) => {
  const text = textOf(input, context);
  const shown = argument(args, named, 0, 'length');
  const length = shown === undefined ? undefined : operandOf(shown, context.meter);
  const rel = argument(args, named, 1, 'nofollow') === true ? ' rel="nofollow"' : '';
  const written = (part: string): string => (context.isMarkup ? escapeHtml(part) : part);
  const parts = text.split(/(\s+)/).map((word) => {
    const link = linkIn(word);
    if (!link) return written(word);
    const { address, before } = link;
    const isMail = before === 'mailto:';
    const label =
      isMail || length === undefined || Number.isNaN(length)
        ? address
        : address.slice(0, Math.max(0, length));
    return `<a href="${before}${written(address)}"${isMail ? '' : rel}>${written(label)}</a>`;
  });
  const linked = parts.join('');
  context.meter.make(linked.length);
  return context.isMarkup ? new SafeText(linked, 'html') : linked;
};

function indentOf(spaces: Value, context: FilterContext): number | string {
  if (spaces instanceof SafeText || typeof spaces === 'string') return context.text(spaces);
  return typeof spaces === 'number' ? spaces : 0;
}

const dump: Filter = (input, [spaces], _named, context) => {
  const json = JSON.stringify(toJson(input, context.meter), null, indentOf(spaces, context));
  if (json === undefined) return undefined;
  context.meter.make(json.length);
  return context.isMarkup ? new SafeText(escapeJson(json), 'script') : json;
};

const nl2br: Filter = (input, _args, _named, context) => {
  const text = context.text(input);
  const isEscaped = !context.isMarkup || input instanceof SafeText;
  const broken = (isEscaped ? text : escapeHtml(text)).replace(/\r\n|\n/g, '<br />\n');
  context.meter.make(broken.length);
  return context.isMarkup ? new SafeText(broken, 'html') : broken;
};

const safe: Filter = (input, _args, _named, context) =>
  input instanceof SafeText && input.safeIn === 'anywhere'
    ? input
    : new SafeText(context.text(input), 'anywhere');

/** What Nunjucks has for markup and addresses; what these filters make is not escaped again. */
export const markupFilters: Readonly<Record<string, Filter>> = {
  dump,
  e: escape,
  escape,
  forceescape: forceEscape,
  nl2br,
  safe,
  urlencode,
  urlize,
};
