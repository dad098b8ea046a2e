import type { ExportFormat } from '@plinth/contracts/data-exchange/shapes';
import type { SelectionText } from '@plinth/kernel/list-query';
import { invalid, malformed } from '@plinth/kernel/problem';
import type { Definition } from './definition';

export interface ExportRequest {
  fields: readonly string[];
  includeId: boolean;
  selection: SelectionText;
}

/**
 * The key under which a run stores the file of an export. Each run has its own: one that only seemed dead must not write
 * over the file of the run that ended the job.
 */
export const exportBlobKey = (tenantId: string, jobId: string, runId: string): string =>
  `${tenantId}/exports/${jobId}-${runId}`;

/**
 * The key before each run had its own. No job needs it whose version was replaced for longer than files of exports are kept,
 * which is a week unless it is set otherwise: the next version but one can do without.
 */
export const formerExportBlobKey = (tenantId: string, jobId: string): string =>
  `${tenantId}/exports/${jobId}`;

const pad = (value: number): string => String(value).padStart(2, '0');

/** No file system takes them in the name of a file. */
const NOT_IN_FILE_NAMES = /[\\/:*?"<>|\p{Cc}]/gu;

/** `<definition>_<yyyy-MM-dd_HHmmss>.<ext>`, in UTC. */
export function exportFileName({
  definitionName,
  format,
  createdAt,
}: {
  definitionName: string;
  format: ExportFormat;
  createdAt: Date;
}): string {
  const date = createdAt.toISOString().slice(0, 10);
  const time = [createdAt.getUTCHours(), createdAt.getUTCMinutes(), createdAt.getUTCSeconds()]
    .map(pad)
    .join('');
  return `${definitionName.replace(NOT_IN_FILE_NAMES, '_')}_${date}_${time}.${format}`;
}

const BRACKETED = { filter: /^filter\[(.*)\]$/i, presets: /^presets\[(.*)\]$/i };

/**
 * An export's `filter` and `presets` may be spelled as in a query, `filter[name.eq]`, or without the brackets.
 * @throws Problem `malformed`: one key in both spellings with different values, of which one would be lost.
 */
export function withoutBrackets(
  kind: 'filter' | 'presets',
  texts: Record<string, string> | null | undefined,
): Record<string, string> {
  const values = new Map<string, string>();
  for (const [spelled, value] of Object.entries(texts ?? {})) {
    const key = BRACKETED[kind].exec(spelled)?.[1] ?? spelled;
    if (values.has(key) && values.get(key) !== value)
      throw malformed(`${kind} has "${key}" twice, with different values.`);
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

/** The selected fields; all where none is selected. @throws Problem `invalid`: unknown or repeated fields. */
export function selectFields({ fields }: Pick<Definition, 'fields'>, selected: readonly string[]): string[] {
  const known = fields.map(({ propertyPath }) => propertyPath);
  if (selected.length === 0) return known;
  const unknown = selected.flatMap((property, index) => (known.includes(property) ? [] : [index]));
  if (unknown.length > 0) {
    const errors = Object.fromEntries(unknown.map((index) => [`selectedFields[${index}]`, 'Enum' as const]));
    throw invalid(errors, `There is no field "${selected[unknown[0]!]}".`);
  }
  const repeated = selected.findIndex((property, index) => selected.indexOf(property) !== index);
  if (repeated >= 0)
    throw invalid(
      { [`selectedFields[${repeated}]`]: 'Unique' },
      `"${selected[repeated]}" is selected twice.`,
    );
  return [...selected];
}
