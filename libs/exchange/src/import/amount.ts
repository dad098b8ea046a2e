import { SHORT_CELL_MAX } from './short-cell';

/** A number as people and programs write amounts, taken apart. */
export interface Amount {
  /** Digits with their separators, without a sign. */
  digits: string;
  isNegative: boolean;
  /** A sign such as `€` and `US$`, or a code of ISO 4217. */
  currency?: string | undefined;
}

const CURRENCY = String.raw`(?:[A-Z]{1,3}\s?)?\p{Sc}|[A-Z]{3}`;
const AMOUNT = new RegExp(
  String.raw`^(?<open>\()?(?<sign>[+-])?\s*(?<before>${CURRENCY})?\s*(?<inner>[+-])?` +
    String.raw`(?<digits>[\d.,](?:[\d.,\s'’]*[\d.,])?)(?<last>-)?\s*(?<after>${CURRENCY})?(?<close>\))?$`,
  'u',
);

/** Their amounts have three decimals, which look like thousands. */
const IN_THOUSANDTHS = ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'];

let codes: ReadonlySet<string> | undefined;
/** Three letters before a number are most often something else, such as `ART 1000`. */
const isCurrency = (text: string): boolean => /\p{Sc}/u.test(text) || (codes ??= currencyCodes()).has(text);

const currencyCodes = (): ReadonlySet<string> =>
  new Set(Intl.supportedValuesOf('currency').filter((code) => !IN_THOUSANDTHS.includes(code)));

/**
 * Takes an amount apart: a currency before or after it, and a minus before it, behind it (SAP) or as brackets around it
 * (accountants). Undefined where the text is none, or says two of these at once.
 */
export function readAmount(text: string): Amount | undefined {
  if (text.length > SHORT_CELL_MAX) return undefined;
  const found = AMOUNT.exec(text.trim())?.groups;
  if (!found) return undefined;
  const { open, sign, before, inner, last, after, close, digits } = found;
  const signs = [sign, inner, last, open].filter((part) => part !== undefined);
  const currencies = [before, after].filter((part) => part !== undefined);
  const currency = currencies[0]?.replace(/\s/g, '');
  if (signs.length > 1 || currencies.length > 1 || (open === undefined) !== (close === undefined))
    return undefined;
  if (currency !== undefined && !isCurrency(currency)) return undefined;
  return { digits: digits!, isNegative: signs.length > 0 && signs[0] !== '+', currency };
}
