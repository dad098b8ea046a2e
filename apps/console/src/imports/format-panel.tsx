import { useMutation, useMutationState, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { DateOrder, TextEncoding } from '@plinth/contracts/data-exchange/shapes';
import {
  dataExchange,
  importFormatQuery,
  importPreviewQuery,
  importQuery,
  type FormatCorrection,
  type ImportFormat,
  type ImportPreview,
} from '../api/data-exchange';
import { Select, type Option } from '../components/select';
import { Failure, Skeleton } from '../components/state';
import { useStoredState } from '../components/stored-state';
import { useTexts, type Texts } from '../texts/texts';

/** Corrections are pending until what they change is seen. */
export const correctionKey = (jobId: string) => ['import', jobId, 'format'];

/** What was found out about the file and why; each part can be corrected, and the preview follows. */
export function FormatPanel({ jobId }: { jobId: string }) {
  const texts = useTexts();
  const { t } = texts;
  const queries = useQueryClient();
  const { data: format, error, refetch } = useQuery(importFormatQuery(jobId));
  const { data: preview } = useQuery(importPreviewQuery(jobId));
  const findings = preview?.findings ?? format?.findings ?? [];
  const mutationKey = correctionKey(jobId);
  const pending = useMutationState({
    filters: { mutationKey, status: 'pending' },
    select: ({ state }) => state.variables as FormatCorrection,
  });
  const chosen: FormatCorrection = Object.assign({}, ...pending);
  const [failure, setFailure] = useState<Error>();
  const [before, setBefore] = useStoredState<Before>(`import-format-${jobId}`, {});
  const correction = useMutation({
    mutationKey,
    // One after the other: each answer is what the file is read by from then on.
    scope: { id: `format-of-${jobId}` },
    mutationFn: async (body: FormatCorrection) =>
      (await dataExchange.correctImportFormat({ params: { jobId }, body })).body,
    onSuccess: async (corrected) => {
      queries.setQueryData(importFormatQuery(jobId).queryKey, corrected);
      // A first preview that is still on its way shows the file as it was read before: invalidating would keep it.
      await queries.cancelQueries({ queryKey: ['import', jobId, 'preview'] });
      // Whether it begins anew, and then what takes longer.
      await queries.invalidateQueries({ queryKey: importQuery(jobId).queryKey, exact: true });
      await queries.invalidateQueries({ queryKey: ['import', jobId, 'preview'] });
    },
    onError: setFailure,
  });

  if (error) return <Failure error={error} onRetry={refetch} />;
  return (
    <section className="panel padded stack" aria-labelledby="format">
      <div className="stack tight">
        <h2 id="format">{t('Console.imports.found')}</h2>
        <p className="soft small">{t('Console.imports.foundHelp')}</p>
      </div>
      {!format ? (
        <Skeleton lines={1} height="3.4rem" />
      ) : (
        <div className="format">
          {partsOf(withRowsOf(preview, format), before, texts).map(({ name, label, value, options, why }) => {
            const shown = chosen[name]?.toString() ?? value;
            return (
              <Select
                key={name}
                label={label}
                value={shown}
                options={options}
                description={why}
                onChange={(id) => {
                  if (id === shown) return;
                  setFailure(undefined);
                  if (value !== null) setBefore({ [name]: value, ...before });
                  correction.mutate({ [name]: numbers.has(name) ? Number(id) : id });
                }}
              />
            );
          })}
        </div>
      )}
      {findings.length > 0 && (
        <ul className="plain small">
          {findings.map(({ code, detail }) => (
            <li key={code}>{detail}</li>
          ))}
        </ul>
      )}
      {failure && <Failure error={failure} />}
    </section>
  );
}

/** What was found before it was corrected first, by which a correction can be taken back. */
type Before = Partial<Record<keyof FormatCorrection, string>>;

interface Part {
  name: keyof FormatCorrection;
  label: string;
  /** Null until it is known. */
  value: string | null;
  options: Option[];
  why: string | undefined;
}

const numbers = new Set<keyof FormatCorrection>(['headerRow', 'headerRows', 'lastRow']);

/** Of workbooks the preview finds where the table is. */
const withRowsOf = (
  preview: Pick<ImportPreview, 'headerRow' | 'headerRows' | 'lastRow'> | undefined,
  format: ImportFormat,
): ImportFormat => ({
  ...format,
  headerRow: format.headerRow ?? preview?.headerRow ?? null,
  headerRows: format.headerRows ?? preview?.headerRows ?? null,
  lastRow: format.lastRow ?? preview?.lastRow ?? null,
});

function partsOf(format: ImportFormat, before: Before, { t }: Texts): Part[] {
  const { encoding, hasByteOrderMark, delimiter, decimalSeparator, dateOrder, dateOrderFrom, sheets, sheet } =
    format;
  const parts: Part[] = [];
  if (sheets && sheets.length > 0 && sheet !== null)
    parts.push({
      name: 'sheet',
      label: t('Console.imports.format.sheet'),
      value: sheet,
      options: sheets.map((name) => ({ id: name, label: name })),
      why: t('Console.imports.format.sheetWhy', { count: sheets.length }),
    });
  if (encoding !== null)
    parts.push({
      name: 'encoding',
      label: t('Console.imports.format.encoding'),
      value: encoding,
      options: withValues(Object.values(TextEncoding), encoding).map((id) => ({ id, label: id })),
      why: t(hasByteOrderMark ? 'Console.imports.format.byMark' : 'Console.imports.format.byBytes'),
    });
  if (delimiter !== null)
    parts.push({
      name: 'delimiter',
      label: t('Console.imports.format.delimiter'),
      value: delimiter,
      options: withValues(Object.keys(delimiters), delimiter).map((id) => ({
        id,
        label: delimiters[id] ? t(`Console.imports.format.delimiters.${delimiters[id]}`) : id,
      })),
      why: t('Console.imports.format.byRows'),
    });
  const row = format.headerRow;
  const rowOf = (number: number) => ({
    id: String(number),
    label:
      number === 0 ? t('Console.imports.format.noRow') : t('Console.imports.format.row', { row: number }),
  });
  parts.push({
    name: 'headerRow',
    label: t('Console.imports.format.headerRow'),
    value: row === null ? null : String(row),
    options: [...new Set([...firstRows, row ?? 0, 0])].map(rowOf),
    why: t('Console.imports.format.byRows'),
  });
  if (decimalSeparator !== null)
    parts.push({
      name: 'decimalSeparator',
      label: t('Console.imports.format.decimal'),
      value: decimalSeparator,
      options: ['.', ','].map((id) => ({ id, label: `1234${id}5` })),
      why: t('Console.imports.format.byRows'),
    });
  if (dateOrder !== null)
    parts.push({
      name: 'dateOrder',
      label: t('Console.imports.format.dates'),
      value: dateOrder,
      options: Object.values(DateOrder).map((id) => ({ id, label: t(`Console.imports.format.order.${id}`) })),
      why: t(`Console.imports.format.orderFrom.${dateOrderFrom ?? 'File'}`),
    });
  return [...parts, ...unusualPartsOf(format, before, t)];
}

/** What most files do not have; also where it was corrected to what is usual, which may be a mistake. */
function unusualPartsOf({ headerRows, lastRow, quote }: ImportFormat, before: Before, t: Texts['t']): Part[] {
  const why = t('Console.imports.format.byRows');
  const parts: Part[] = [];
  if (headerRows !== null && (headerRows > 1 || before.headerRows))
    parts.push({
      name: 'headerRows',
      label: t('Console.imports.format.headerRows'),
      value: String(headerRows),
      options: withValues(['1', '2', '3'], String(headerRows), before.headerRows).map((id) => ({
        id,
        label: id,
      })),
      why,
    });
  const lastRows = withValues([], lastRow?.toString(), before.lastRow).filter((id) => id !== '0');
  if (lastRow !== null && lastRows.length > 0)
    parts.push({
      name: 'lastRow',
      label: t('Console.imports.format.lastRow'),
      value: String(lastRow),
      options: [
        ...lastRows.map((id) => ({ id, label: t('Console.imports.format.row', { row: Number(id) }) })),
        { id: '0', label: t('Console.imports.format.endOfFile') },
      ],
      why,
    });
  if (quote !== null && (quote !== '"' || before.quote))
    parts.push({
      name: 'quote',
      label: t('Console.imports.format.quote'),
      value: quote,
      options: withValues(['"'], quote, before.quote).map((id) => ({ id, label: `${id} … ${id}` })),
      why,
    });
  return parts;
}

/** Where headers mostly are. */
const firstRows = Array.from({ length: 20 }, (_, index) => index + 1);

const delimiters: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' };

const withValues = (values: readonly string[], ...more: (string | undefined)[]): string[] => [
  ...new Set([...values, ...more.filter((value) => value !== undefined)]),
];
