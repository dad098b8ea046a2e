import { guard, unguard } from '@plinth/kernel/formula-guard';
import { parse, unparse } from 'papaparse';
import type { TextFile, TextUnit } from './text-file';

const COLUMNS = ['resource', 'key', 'source', 'target'] as const;

/** With a byte order mark, without which spreadsheets guess the encoding; no text is run as a formula. */
export const toCsv = ({ units }: TextFile): string =>
  `\ufeff${unparse(
    units.map(({ resource, key, source, target }) => [resource, key, source, target].map(guard)),
    { newline: '\n' },
  ).replace(/^/, `${COLUMNS.join(',')}\n`)}\n`;

/** @throws Error for a file without the columns `resource`, `key` and `target` */
export function fromCsv(text: string): TextUnit[] {
  const { data, meta, errors } = parse<Record<string, string>>(text.replace(/^\ufeff/, ''), {
    header: true,
    skipEmptyLines: true,
  });
  const fatal = errors.find(({ code }) => code !== 'UndetectableDelimiter');
  if (fatal) throw new Error(`row ${(fatal.row ?? 0) + 2}: ${fatal.message}`);
  const missing = COLUMNS.filter((name) => name !== 'source' && !meta.fields?.includes(name));
  if (missing.length > 0) throw new Error(`it has no column ${missing.join(', ')}`);
  return data.map((row) => ({
    resource: unguard(row['resource']!),
    key: unguard(row['key']!),
    source: unguard(row['source'] ?? ''),
    target: unguard(row['target']!),
  }));
}
