import { ApiProblem } from '@plinth/sdk/api-problem';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import {
  dataExchange,
  importQuery,
  importReportQuery,
  importsQuery,
  type ImportJob,
} from '../api/data-exchange';
import { Confirm } from '../components/confirm';
import { Page } from '../components/page';
import { Announced, Callout, Failure, Skeleton } from '../components/state';
import { Steps } from '../components/steps';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { BackToImports } from './back-to-imports';
import { CheckStep } from './check-step';
import { ColumnsStep } from './columns-step';
import { definitionName } from './definition-name';
import { ImportStatus } from './import-status';
import { ResultStep } from './result-step';
import { RunStep } from './run-step';
import { useSteps } from './steps';

const goesOn = ({ status }: ImportJob): boolean =>
  ['Created', 'Previewed', 'Mapped', 'Executing'].includes(status);

/** One import, at the step where it is: whoever opens its address goes on there. */
export function ImportPage() {
  const { jobId } = useParams({ from: '/shell/imports/$jobId' });
  // What is deferred is never shown of another import.
  return <OneImport key={jobId} jobId={jobId} />;
}

function OneImport({ jobId }: { jobId: string }) {
  const texts = useTexts();
  const { t, bytes } = texts;
  const { data, error, refetch } = useQuery(importQuery(jobId));
  // Its steps are rendered in pieces, between which keys and clicks are answered.
  const job = useDeferredValue(data);
  return (
    <Page
      isWide
      title={job?.originalFileName ?? t('Console.imports.one')}
      back={<BackToImports />}
      lead={t(job && !goesOn(job) ? 'Console.imports.endedLead' : 'Console.imports.oneLead')}
      actions={job && <CancelImport job={job} />}
    >
      {error && !job && <Failure error={error} onRetry={refetch} />}
      {!job && !error && <Skeleton lines={5} height="3rem" />}
      {job && (
        <>
          <div className="row soft">
            <span>
              {definitionName(texts, job.definitionName)} · {bytes(job.fileSizeBytes)}
            </span>
            <Announced>
              <ImportStatus {...job} />
            </Announced>
          </div>
          <Step job={job} />
        </>
      )}
    </Page>
  );
}

function Step({ job }: { job: ImportJob }) {
  const { t } = useTexts();
  const steps = useSteps();
  const { step } = useSearch({ from: '/shell/imports/$jobId' });
  const caller = useCaller();
  const isCancelled = job.status === 'Cancelled';
  const { error, isLoading } = useQuery({ ...importReportQuery(job.id), enabled: isCancelled });
  const isOpen = ['Created', 'Previewed', 'Mapped'].includes(job.status);
  if (isOpen && !mayDo(caller, 'DataExchange.Imports.Execute'))
    return <Callout title={t('Console.imports.readOnly')}>{t('Console.imports.readOnlyHelp')}</Callout>;
  if (isLoading) return <Skeleton lines={5} height="3rem" />;
  // It has no report: it never ran.
  if (isCancelled && error instanceof ApiProblem && error.slug === 'import-in-wrong-state')
    return <Callout title={t('Console.imports.cancelled')}>{t('Console.imports.cancelledHelp')}</Callout>;
  const [index, content] = contentOf(job, step === 'columns');
  return (
    <>
      <Steps {...steps} current={index} />
      {content}
    </>
  );
}

function contentOf(job: ImportJob, wantsColumns: boolean) {
  if (job.status === 'Created' || job.status === 'Previewed' || (job.status === 'Mapped' && wantsColumns))
    return [1, <ColumnsStep key="columns" job={job} />] as const;
  if (job.status === 'Mapped') return [2, <CheckStep key="check" job={job} />] as const;
  if (job.status === 'Executing') return [3, <RunStep key="run" job={job} />] as const;
  return [5, <ResultStep key="result" job={job} />] as const;
}

/** Before it runs the file is deleted; while it runs, what was stored stays. */
function CancelImport({ job }: { job: ImportJob }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const caller = useCaller();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => dataExchange.cancelImport({ params: { jobId: job.id } }),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: importQuery(job.id).queryKey, exact: true });
      await queries.invalidateQueries({ queryKey: importsQuery.queryKey });
    },
  });
  if (!goesOn(job) || !mayDo(caller, 'DataExchange.Imports.Execute')) return null;
  const isRunning = job.status === 'Executing';
  return (
    <Confirm
      look="quiet"
      label={t(isRunning ? 'Console.imports.stop' : 'Console.imports.discard')}
      title={t(isRunning ? 'Console.imports.stopTitle' : 'Console.imports.discardTitle')}
      confirmLabel={t(isRunning ? 'Console.imports.stop' : 'Console.imports.discard')}
      isPending={isPending}
      error={error}
      onConfirm={() => mutate()}
    >
      {t(isRunning ? 'Console.imports.stopHelp' : 'Console.imports.discardHelp')}
    </Confirm>
  );
}
