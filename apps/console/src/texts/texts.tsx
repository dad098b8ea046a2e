import { queryOptions, useQuery } from '@tanstack/react-query';
import { createContext, use, useDeferredValue, useEffect, useMemo, type ReactNode } from 'react';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { callerQuery, publicLocalization } from '../api/platform';
import { useSession } from '../session/session';
import { formatText, type TextValues } from './format-text';
import { usePreferences } from './preferences';
import { textsSelection, type resourceNames } from './texts-selection';

/** The key of a text behind the name of its resource, such as `Console.imports.title`. */
export type TextKey = `${(typeof resourceNames)[number]}.${string}`;

type Bootstrap = Awaited<ReturnType<typeof publicLocalization.getLocalization>>['body'];

export interface Texts {
  culture: string;
  languages: Bootstrap['languages'];
  /** The text of a key, with its placeholders filled. */
  t(key: TextKey, values?: TextValues): string;
  /** The same for a key that may not exist, such as that of a state that a tenant named. */
  find(key: TextKey): string | undefined;
  number(value: number, options?: Intl.NumberFormatOptions): string;
  date(value: string | number | Date, options?: Intl.DateTimeFormatOptions): string;
  dateTime(value: string | number | Date): string;
  /** “2 minutes ago”, “in an hour”. */
  relative(value: string | number | Date): string;
  bytes(value: number): string;
  /** “40 seconds”, “3 minutes”. */
  duration(seconds: number): string;
}

const TextsContext = createContext<Texts | undefined>(undefined);

export function useTexts(): Texts {
  const texts = use(TextsContext);
  if (!texts) throw new Error('There are no texts here.');
  return texts;
}

const textsQuery = (culture: string | undefined, tenant: string | undefined) =>
  queryOptions({
    queryKey: ['texts', culture, tenant],
    queryFn: async ({ signal }) => {
      const query = textsSelection(culture, tenant);
      return (await publicLocalization.getLocalization({ query, signal })).body;
    },
    staleTime: 3_600_000,
    placeholderData: (previous) => previous,
  });

/** The texts of the person's language, from the localization service of the platform. */
export function TextsProvider({ children, fallback }: { children: ReactNode; fallback: Fallback }) {
  const { culture, timeZone } = usePreferences();
  const session = useSession();
  const { data: caller } = useQuery({ ...callerQuery, enabled: session !== undefined });
  const { data, error, refetch } = useQuery(textsQuery(culture, caller?.tenantId ?? session?.tenantId));
  // Everything is drawn with the texts: deferred, that is work in small pieces, between which the browser listens.
  const bootstrap = useDeferredValue(data);
  const texts = useMemo(
    () => (bootstrap ? createTexts(bootstrap, timeZone) : undefined),
    [bootstrap, timeZone],
  );

  useEffect(() => {
    if (texts) document.documentElement.lang = texts.culture;
  }, [texts]);

  if (!texts) return fallback({ error, retry: () => void refetch() });
  return (
    <TextsContext value={texts}>
      <I18nProvider locale={texts.culture}>{children}</I18nProvider>
    </TextsContext>
  );
}

export type Fallback = (state: { error: Error | null; retry: () => void }) => ReactNode;

function createTexts({ currentCulture: culture, resources, languages }: Bootstrap, timeZone?: string): Texts {
  const find = (key: TextKey, values?: TextValues) => {
    const dot = key.indexOf('.');
    const text = resources[key.slice(0, dot)]?.[key.slice(dot + 1)];
    return text === undefined ? undefined : formatText(text, culture, values, timeZone);
  };
  const zone = timeZone ? { timeZone } : {};
  const numberFormats = new Map<string, Intl.NumberFormat>();
  const number: Texts['number'] = (value, options = {}) => {
    const name = JSON.stringify(options);
    const format = numberFormats.get(name) ?? new Intl.NumberFormat(culture, options);
    numberFormats.set(name, format);
    return format.format(value);
  };
  // Made where a page shows one: each takes a while.
  let dateTimeFormat: Intl.DateTimeFormat | undefined;
  let relativeFormat: Intl.RelativeTimeFormat | undefined;
  return {
    culture,
    languages,
    t: (key, values) => find(key, values) ?? key,
    find,
    number,
    date: (value, options = { dateStyle: 'medium' }) =>
      new Intl.DateTimeFormat(culture, { ...options, ...zone }).format(new Date(value)),
    dateTime: (value) => {
      dateTimeFormat ??= new Intl.DateTimeFormat(culture, {
        dateStyle: 'medium',
        timeStyle: 'short',
        ...zone,
      });
      return dateTimeFormat.format(new Date(value));
    },
    relative: (value) => {
      const seconds = (new Date(value).getTime() - Date.now()) / 1_000;
      const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
      relativeFormat ??= new Intl.RelativeTimeFormat(culture, { numeric: 'auto' });
      return relativeFormat.format(Math.round(seconds / length), unit);
    },
    duration: (seconds) => {
      const [unit, length] = units.find(([, size]) => size <= 3_600 && seconds >= size) ?? ['second', 1];
      const value = seconds / length;
      const maximumFractionDigits = value < 10 && unit === 'second' ? 1 : 0;
      return number(value, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits });
    },
    bytes: (value) => {
      const step = Math.min(Math.max(Math.floor(Math.log10(Math.max(value, 1)) / 3), 0), 3);
      const unit = ['byte', 'kilobyte', 'megabyte', 'gigabyte'][step]!;
      return number(value / 1_000 ** step, {
        style: 'unit',
        unit,
        unitDisplay: step === 0 ? 'long' : 'short',
        maximumFractionDigits: step > 1 ? 1 : 0,
      });
    },
  };
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
