import type { ExportFormat } from '@plinth/contracts/data-exchange/shapes';
import type { SelectionText } from '@plinth/kernel/list-query';

export interface ExportRequest {
  fields: readonly string[];
  includeId: boolean;
  selection: SelectionText;
}

/** Where the file of an export is kept. */
export const exportBlobKey = (tenantId: string, jobId: string): string => `${tenantId}/exports/${jobId}`;

const pad = (value: number): string => String(value).padStart(2, '0');

/** Silences, row 33: `<definition>_<yyyy-MM-dd_HHmmss>.<ext>`, in UTC. */
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
  return `${definitionName}_${date}_${time}.${format}`;
}

/** An export's `filter` and `presets` may be spelled as in a query, `filter[name.eq]`, or without the brackets. */
export const withoutBrackets = (
  kind: 'filter' | 'presets',
  texts: Record<string, string> | null | undefined,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts ?? {}).map(([key, value]) => [
      new RegExp(`^${kind}\\[(.*)\\]$`, 'i').exec(key)?.[1] ?? key,
      value,
    ]),
  );
