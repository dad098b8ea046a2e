import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { DateOrder, TextEncoding } from '@plinth/contracts/data-exchange/shapes';
import { dataExchange, importFormatQuery, importQuery, type ImportFormat } from '../api/data-exchange';
import { Select, type Option } from '../components/select';
import { Failure, Skeleton } from '../components/state';
import { useTexts, type Texts } from '../texts/texts';

type Correction = Parameters<typeof dataExchange.correctImportFormat>[0]['body'];

/** What was found out about the file and why; each part can be corrected, and the preview follows. */
export function FormatPanel({ jobId }: { jobId: string }) {
  const texts = useTexts();
  const { t } = texts;
  const queries = useQueryClient();
  const { data: format, error } = useQuery(importFormatQuery(jobId));
  const correction = useMutation({
    mutationFn: async (body: Correction) =>
      (await dataExchange.correctImportFormat({ params: { jobId }, body })).body,
    onSuccess: async (corrected) => {
      queries.setQueryData(importFormatQuery(jobId).queryKey, corrected);
      // A first preview that is still on its way shows the file as it was read before: invalidating would keep it.
      await queries.cancelQueries({ queryKey: ['import', jobId, 'preview'] });
      await queries.invalidateQueries({ queryKey: ['import', jobId, 'preview'] });
      await queries.invalidateQueries({ queryKey: importQuery(jobId).queryKey, exact: true });
    },
  });

  if (error) return <Failure error={error} />;
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
          {partsOf(format, texts).map(({ name, label, value, options, why }) => (
            <Select
              key={name}
              label={label}
              value={value}
              options={options}
              description={why}
              isDisabled={correction.isPending}
              onChange={(id) => id !== value && correction.mutate({ [name]: id })}
            />
          ))}
        </div>
      )}
      {correction.error && <Failure error={correction.error} />}
    </section>
  );
}

interface Part {
  name: keyof Correction;
  label: string;
  value: string;
  options: Option[];
  why: string | undefined;
}

function partsOf(format: ImportFormat, { t }: Texts): Part[] {
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
      options: withValue(Object.values(TextEncoding), encoding).map((id) => ({ id, label: id })),
      why: t(hasByteOrderMark ? 'Console.imports.format.byMark' : 'Console.imports.format.byBytes'),
    });
  if (delimiter !== null)
    parts.push({
      name: 'delimiter',
      label: t('Console.imports.format.delimiter'),
      value: delimiter,
      options: withValue(Object.keys(delimiters), delimiter).map((id) => ({
        id,
        label: delimiters[id] ? t(`Console.imports.format.delimiters.${delimiters[id]}`) : id,
      })),
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
  return parts;
}

const delimiters: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' };

const withValue = (values: readonly string[], value: string): string[] => [...new Set([...values, value])];
