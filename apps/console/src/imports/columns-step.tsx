import { ApiProblem } from '@plinth/sdk/api-problem';
import { useIsMutating, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import {
  dataExchange,
  importFormatQuery,
  importPreviewQuery,
  importQuery,
  type ImportJob,
  type ImportMapping,
  type ImportPreview,
} from '../api/data-exchange';
import { Button } from '../components/button';
import { Checkbox } from '../components/choices';
import { Select } from '../components/select';
import { Badge, Callout, Failure, Skeleton, type BadgeTone } from '../components/state';
import { useTexts } from '../texts/texts';
import { fieldHelp, fieldName } from './definition-name';
import { correctionKey, FormatPanel } from './format-panel';
import { RowTable } from './row-table';

/** The second step: how the file is read, and which of its columns is what. */
export function ColumnsStep({ job }: { job: ImportJob }) {
  const { data, error, refetch } = useQuery(importPreviewQuery(job.id));
  const preview = useDeferredValue(data);
  // What was found stands above; only then it is known where the rest begins.
  const isFormatKnown = !useQuery(importFormatQuery(job.id)).isPending;
  return (
    <>
      <FormatPanel jobId={job.id} />
      {error && <Failure error={error} onRetry={refetch} />}
      {!preview && !error && isFormatKnown && <Skeleton lines={6} height="2.6rem" />}
      {preview && isFormatKnown && <Mapping key={preview.headers.join('\n')} job={job} preview={preview} />}
    </>
  );
}

const NOT_IMPORTED = '';
const SAMPLES_MAX = 3;

const tones: Record<ImportMapping['confidence'], BadgeTone> = {
  Manual: undefined,
  Saved: 'good',
  Exact: 'good',
  Fuzzy: 'warn',
  Semantic: 'accent',
};

/** Choices are kept one after the other, and before they are confirmed. */
const choicesOf = (jobId: string) => ({ id: `columns-of-${jobId}` });

/** Changes the mapping of one column here at once, and keeps all of them for whoever goes on with the import. */
function useDraft(jobId: string) {
  const queries = useQueryClient();
  const { queryKey } = importPreviewQuery(jobId);
  return useMutation({
    scope: choicesOf(jobId),
    mutationFn: async (_changed: Pick<ImportMapping, 'sourceColumn' | 'targetProperty'>) => {
      const { suggestions, etag: over } = queries.getQueryData(queryKey)!;
      const body = { mappings: suggestions };
      const { etag } = await dataExchange.draftImportMappings({ params: { jobId }, body, ifMatch: over });
      return { over, etag };
    },
    onMutate: async ({ sourceColumn, targetProperty }) => {
      await queries.cancelQueries({ queryKey });
      const former = queries.getQueryData(queryKey);
      queries.setQueryData(
        queryKey,
        (preview) =>
          preview && {
            ...preview,
            suggestions: preview.suggestions.map((mapping) =>
              mapping.sourceColumn === sourceColumn
                ? { sourceColumn, targetProperty, confidence: 'Manual' as const }
                : mapping,
            ),
          },
      );
      return former;
    },
    onError: (error, _changed, former) => {
      queries.setQueryData(queryKey, former);
      // Somebody else chose meanwhile, which is seen before it is chosen again.
      if (error instanceof ApiProblem && error.slug === 'stale-version')
        void queries.invalidateQueries({ queryKey: importQuery(jobId).queryKey });
    },
    onSuccess: ({ over, etag }) => {
      queries.setQueryData(queryKey, (preview) =>
        preview && preview.etag === over ? { ...preview, etag } : preview,
      );
      return queries.invalidateQueries({ queryKey: importQuery(jobId).queryKey, exact: true });
    },
  });
}

function Mapping({ job, preview }: { job: ImportJob; preview: ImportPreview }) {
  const texts = useTexts();
  const { t } = texts;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { headers, previewRows, previewRowNumbers, suggestions: mappings } = preview;
  const fieldMetadata = preview.fieldMetadata.map(({ propertyPath, ...field }) => ({
    ...field,
    propertyPath,
    displayName: fieldName(texts, job.definitionName, propertyPath, field.displayName),
    description: fieldHelp(texts, job.definitionName, propertyPath, field.description),
  }));
  const hasOtherSheets = (useQuery(importFormatQuery(job.id)).data?.sheets?.length ?? 0) > 1;
  const [isRemembered, setRemembered] = useState(true);
  const draft = useDraft(job.id);
  // What is chosen and confirmed is what was read with the correction.
  const isCorrecting = useIsMutating({ mutationKey: correctionKey(job.id) }) > 0;
  const columnsOf = (property: string) =>
    mappings.filter(({ targetProperty }) => targetProperty === property);
  const missing = fieldMetadata.filter(
    ({ isRequired, propertyPath }) => isRequired && columnsOf(propertyPath).length === 0,
  );
  const doubled = fieldMetadata.filter(({ propertyPath }) => columnsOf(propertyPath).length > 1);

  const { mutate, isPending, error } = useMutation({
    scope: choicesOf(job.id),
    mutationFn: async () => {
      // Of the choices that were kept before it; what was read meanwhile was not seen.
      const newest = queries.getQueryData(importPreviewQuery(job.id).queryKey);
      const { etag } = newest?.suggestions === mappings ? newest : preview;
      const body = { mappings, saveForReuse: isRemembered };
      await dataExchange.confirmImportMappings({ params: { jobId: job.id }, body, ifMatch: etag });
      await queries.invalidateQueries({ queryKey: importQuery(job.id).queryKey, exact: true });
      await navigate({ to: '/imports/$jobId', params: { jobId: job.id }, search: {} });
    },
    // Somebody else may have changed it, which is seen before it is confirmed again.
    onError: () => void queries.invalidateQueries({ queryKey: importQuery(job.id).queryKey }),
  });

  const samplesOf = (index: number) =>
    [...new Set(previewRows.map((row) => row[index] ?? '').filter((cell) => cell !== ''))].slice(
      0,
      SAMPLES_MAX,
    );
  const options = [
    { id: NOT_IMPORTED, label: t('Console.imports.notImported') },
    ...fieldMetadata.map(({ propertyPath, displayName, isRequired, description }) => ({
      id: propertyPath,
      label: isRequired ? `${displayName} *` : displayName,
      description,
    })),
  ];

  return (
    <>
      <section className="stack" aria-labelledby="mapping">
        <div className="stack tight">
          <h2 id="mapping">{t('Console.imports.mapping')}</h2>
          <p className="soft">{t('Console.imports.mappingHelp')}</p>
        </div>
        <div className="table-frame">
          <table className="table mapping cards-when-narrow">
            <thead>
              <tr>
                <th scope="col">{t('DataExchange.fields.sourceColumn')}</th>
                <th scope="col">{t('Console.imports.samples')}</th>
                <th scope="col">{t('DataExchange.fields.targetProperty')}</th>
                <th scope="col">{t('DataExchange.fields.confidence')}</th>
              </tr>
            </thead>
            <tbody>
              {mappings.map(({ sourceColumn, targetProperty, confidence }, index) => (
                <tr key={sourceColumn}>
                  <th scope="row">{sourceColumn}</th>
                  <td className="full">
                    <span className="samples soft">{samplesOf(index).join(' · ') || '–'}</span>
                  </td>
                  <td className="full">
                    <Select
                      hidesLabel
                      isDisabled={isCorrecting}
                      label={t('Console.imports.fieldOf', { column: sourceColumn })}
                      options={options}
                      value={targetProperty ?? NOT_IMPORTED}
                      onChange={(property) =>
                        draft.mutate({ sourceColumn, targetProperty: property || null })
                      }
                    />
                  </td>
                  <td>
                    {targetProperty === null ? (
                      <span className="soft">–</span>
                    ) : (
                      <Badge tone={tones[confidence]}>{t(`DataExchange.confidence.${confidence}`)}</Badge>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {missing.length > 0 && (
        <Callout tone="warn" title={t('Console.imports.missing', { count: missing.length })}>
          {missing.map(({ displayName }) => displayName).join(', ')}
          <p>
            {/* Where nothing of the sheet is wanted, the table is hardly on it. */}
            {hasOtherSheets && mappings.every(({ targetProperty }) => !targetProperty)
              ? t('Console.imports.format.otherSheet')
              : t('Console.imports.missingHelp', { count: missing.length })}
          </p>
        </Callout>
      )}
      {doubled.length > 0 && (
        <Callout tone="warn" title={t('Console.imports.doubled')}>
          {doubled.map(({ displayName }) => displayName).join(', ')}
        </Callout>
      )}
      {(error ?? draft.error) && <Failure error={(error ?? draft.error)!} />}
      <div className="row spread">
        <Checkbox isSelected={isRemembered} onChange={setRemembered}>
          {t('Console.imports.remember')}
        </Checkbox>
        <Button
          look="primary"
          isLarge
          isPending={isPending}
          isDisabled={isCorrecting || missing.length > 0 || doubled.length > 0}
          onPress={() => mutate()}
        >
          {t('Console.imports.toCheck')}
          <ArrowRight aria-hidden />
        </Button>
      </div>
      <div className="stack">
        <h2>{t('Console.imports.firstRows')}</h2>
        {previewRows.length === 0 ? (
          <p className="soft">{t('Console.imports.noRows')}</p>
        ) : (
          <RowTable
            label={t('Console.imports.firstRows')}
            headers={headers}
            rows={previewRows.map((cells, index) => ({ number: previewRowNumbers[index]!, cells }))}
          />
        )}
      </div>
    </>
  );
}
