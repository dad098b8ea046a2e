import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Resource, culture, key, value. */
export type Row = [string, string, string, string];

const sections = { Territories: 'territories', Languages: 'languages', Scripts: 'scripts' } as const;

const folder = join(
  dirname(createRequire(import.meta.url).resolve('cldr-localenames-full/package.json')),
  'main',
);

/** The names of all territories, languages and scripts in all languages of the CLDR: hundreds of thousands of texts. */
export function readCldrRows(rowsMax = Infinity): Row[] {
  const rows: Row[] = [];
  for (const locale of readdirSync(folder)) {
    const culture = Intl.getCanonicalLocales(locale)[0]!;
    for (const [resource, section] of Object.entries(sections)) {
      for (const [key, value] of Object.entries(readNames(locale, section))) {
        if (rows.length === rowsMax) return rows;
        rows.push([resource, culture, key, value]);
      }
    }
  }
  return rows;
}

function readNames(locale: string, section: string): Record<string, string> {
  const file = join(folder, locale, `${section}.json`);
  if (!existsSync(file)) return {};
  return JSON.parse(readFileSync(file, 'utf8')).main[locale].localeDisplayNames[section];
}
