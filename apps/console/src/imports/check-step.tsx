import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ArrowLeft, Play } from 'lucide-react';
import { useDeferredValue } from 'react';
import {
  dataExchange,
  importOptionsQuery,
  importQuery,
  importsQuery,
  type ImportJob,
  type ImportOptions,
  type ImportReport,
} from '../api/data-exchange';
import { Button } from '../components/button';
import { Choices } from '../components/choices';
import { Announced, Callout, Failure, Progress, Skeleton } from '../components/state';
import { useTexts } from '../texts/texts';
import { ErrorList } from './error-list';
import { ReportFigures } from './report-figures';
import { verdictOf } from './verdict';

const modes = ['upsert', 'insert', 'update'] as const;
const reactions = ['continue', 'abort'] as const;

/** Changes how to import here at once, also where that cannot be kept, and keeps it for whoever goes on with the import. */
function useOptionsChange(jobId: string) {
  const queries = useQueryClient();
  const { queryKey } = importOptionsQuery(jobId);
  return useMutation({
    scope: { id: `options-of-${jobId}` },
    mutationFn: (options: ImportOptions) =>
      dataExchange.draftImportMappings({ params: { jobId }, body: { options } }),
    onMutate: async (options) => {
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, options);
    },
  });
}

/** The third step: what an import would do, with every error on its cell, before anything is stored. */
export function CheckStep({ job }: { job: ImportJob }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const params = { jobId: job.id };
  const { data, error: optionsError, refetch } = useQuery(importOptionsQuery(job.id));
  // Fields and hundreds of rows are rendered in pieces, between which keys and clicks are answered.
  const options = useDeferredValue(data);
  const change = useOptionsChange(job.id);
  // Of those that were chosen last, which may not be rendered yet.
  const choose = (chosen: Partial<ImportOptions>) =>
    change.mutate({ ...options!, ...queries.getQueryData(importOptionsQuery(job.id).queryKey), ...chosen });
  const check = useQuery({
    // Anew where somebody changed what is imported, be it on this page.
    queryKey: ['import', job.id, 'dry-run', job.concurrencyStamp, options],
    enabled: options !== undefined,
    queryFn: async ({ signal }) => {
      const query = { includeCells: 'true', includeGroups: 'true' } as const;
      const { body, etag } = await dataExchange.dryRunImport({ params, query, body: options!, signal });
      return { ...body, etag };
    },
    staleTime: Infinity,
  });
  const run = useMutation({
    // What the person has seen checked, and nothing that was mapped since.
    mutationFn: async (ifMatch: string | undefined) =>
      (await dataExchange.executeImport({ params, body: options!, ifMatch })).body,
    onSuccess: (started) => {
      queries.setQueryData(importQuery(job.id).queryKey, started);
      void queries.invalidateQueries({ queryKey: importsQuery.queryKey });
    },
    onError: () => void queries.invalidateQueries({ queryKey: importQuery(job.id).queryKey, exact: true }),
  });
  const report = useDeferredValue(check.data);
  const isChecking = !report && !check.error;

  if (!options)
    return optionsError ? (
      <Failure error={optionsError} onRetry={refetch} />
    ) : (
      <Skeleton lines={5} height="3rem" />
    );
  return (
    <>
      <div className="options panel padded">
        <Choices
          label={t('Console.imports.mode')}
          value={options.mode}
          onChange={(mode) => choose({ mode })}
          options={modes.map((id) => ({ id, label: t(`DataExchange.mode.${id}`) }))}
        />
        <Choices
          label={t('Console.imports.onError')}
          value={options.onError}
          onChange={(onError) => choose({ onError })}
          options={reactions.map((id) => ({ id, label: t(`DataExchange.onError.${id}`) }))}
        />
      </div>
      {change.error && <Failure error={change.error} />}
      <Announced>
        {isChecking && (
          <Callout title={t('Console.imports.checking')}>
            {t('DataExchange.messages.dryRun')}
            <Progress label={t('Console.imports.checking')} value={undefined} />
          </Callout>
        )}
        {report && <Verdict report={report} onError={options.onError} />}
      </Announced>
      {check.error && <Failure error={check.error} onRetry={check.refetch} />}
      {(report || isChecking) && <ReportFigures report={report} />}
      {run.error && <Failure error={run.error} />}
      <div className="row spread">
        <ToColumns jobId={job.id} />
        {isChecking && <span className="button large" style={{ visibility: 'hidden' }} aria-hidden />}
        {report && (
          <Button
            look="primary"
            isLarge
            isPending={run.isPending}
            isDisabled={report.succeededRows === 0}
            onPress={() => run.mutate(report.etag)}
          >
            <Play aria-hidden />
            {t('Console.imports.start', { count: report.succeededRows })}
          </Button>
        )}
      </div>
      {report && report.rowErrors.length > 0 && (
        <ErrorList report={report} makesFile={options.onError === 'continue' && report.succeededRows > 0} />
      )}
    </>
  );
}

function ToColumns({ jobId }: { jobId: string }) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const back = { to: '/imports/$jobId', params: { jobId }, search: { step: 'columns' } } as const;
  return (
    <Button onPress={() => void navigate(back)}>
      <ArrowLeft aria-hidden />
      {t('Console.imports.toColumns')}
    </Button>
  );
}

const tones = { good: 'good', warn: 'warn', bad: 'bad', skipped: 'warn' } as const;

function Verdict({ report, onError }: { report: ImportReport; onError: ImportOptions['onError'] }) {
  const { t } = useTexts();
  const { failedRows, skippedRows, errorMessage } = report;
  const verdict = verdictOf(report, onError);
  const help =
    verdict === 'skipped'
      ? t('Console.imports.skippedHelp', { count: skippedRows })
      : t('DataExchange.messages.dryRun');
  return (
    <Callout tone={tones[verdict]} title={t(`Console.imports.verdict.${verdict}`, { count: failedRows })}>
      {errorMessage ?? help}
    </Callout>
  );
}
