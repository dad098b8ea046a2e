import { exportJob, type JobProgress } from '@plinth/sdk/jobs';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Download as DownloadIcon } from 'lucide-react';
import { useCallback } from 'react';
import { dataExchange, exportQuery, exportsQuery, type ExportJob } from '../api/data-exchange';
import { useJobProgress } from '../api/use-job-progress';
import { Button } from '../components/button';
import { Confirm } from '../components/confirm';
import { LinkButton } from '../components/link-button';
import { Page } from '../components/page';
import { saveFile } from '../components/save-file';
import { Announced, Callout, Failure, Progress, Skeleton } from '../components/state';
import { definitionName } from '../imports/definition-name';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { BackToExports } from './back-to-exports';
import { ExportStatus } from './export-status';

/** One export: how far it is, and its file. */
export function ExportPage() {
  const texts = useTexts();
  const { t, dateTime } = texts;
  const { jobId } = useParams({ from: '/shell/exports/$jobId' });
  const { data: job, error, refetch } = useQuery(exportQuery(jobId));
  return (
    <Page
      title={job ? definitionName(texts, job.definitionName) : t('Platform.areas.exports')}
      back={<BackToExports />}
      lead={
        job && (
          <span className="row">
            <span>
              {t(`DataExchange.format.${job.format}`)} · {dateTime(job.createdAt)}
            </span>
            <Announced as="span">
              <ExportStatus status={job.status} />
            </Announced>
          </span>
        )
      }
    >
      {error && !job && <Failure error={error} onRetry={refetch} />}
      {!job && !error && <Skeleton lines={4} height="3rem" />}
      {job && (job.completedAt === null ? <Running job={job} /> : <Ended job={job} />)}
    </Page>
  );
}

function Running({ job }: { job: ExportJob }) {
  const { t, number } = useTexts();
  const queries = useQueryClient();
  const follow = useCallback(
    async (onProgress: (progress: JobProgress) => void, signal: AbortSignal) => {
      const ended = await exportJob(dataExchange, job.id).wait({ onProgress, signal });
      queries.setQueryData(exportQuery(job.id).queryKey, ended);
      void queries.invalidateQueries({ queryKey: exportsQuery.queryKey });
    },
    [job.id, queries],
  );
  const { progress, isConnected } = useJobProgress(follow);
  const cancel = useMutation({
    mutationFn: () => dataExchange.cancelExportJob({ params: { jobId: job.id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: exportQuery(job.id).queryKey }),
  });
  const mayCancel = mayDo(useCaller(), 'DataExchange.Exports.Execute');
  const { rowsDone = 0, rowsPerSecond = 0 } = progress ?? {};
  const phase = progress ? progress.phase : (job.phase ?? undefined);
  const status = progress?.status ?? job.status;
  const doing = t(phase ? `DataExchange.exportPhase.${phase}` : `DataExchange.exportStatus.${status}`);
  return (
    <>
      {!isConnected && (
        <Callout tone="warn" title={t('Console.failure.offline')}>
          {t('Console.exports.reconnecting')}
        </Callout>
      )}
      <div className="panel padded stack">
        <div className="row spread">
          <strong aria-live="polite">{doing}</strong>
          <span className="soft number">{t('Console.imports.running', { count: rowsDone })}</span>
        </div>
        <Progress label={doing} value={undefined} />
        <p className="soft small number">
          {phase === 'FinishingFile'
            ? t('Console.exports.finishing')
            : t('Console.imports.rate', { rate: number(rowsPerSecond) })}
        </p>
      </div>
      <div className="row spread">
        <p className="soft">{t('Console.exports.mayLeave')}</p>
        {mayCancel && (
          <Confirm
            label={t('Console.exports.cancel')}
            title={t('Console.exports.cancelTitle')}
            confirmLabel={t('Console.exports.cancel')}
            isPending={cancel.isPending}
            error={cancel.error}
            onConfirm={() => cancel.mutate()}
          >
            {t('Console.exports.cancelHelp')}
          </Confirm>
        )}
      </div>
    </>
  );
}

function Ended({ job }: { job: ExportJob }) {
  const { t } = useTexts();
  const download = useMutation({
    mutationFn: async () => {
      const { body } = await dataExchange.downloadExport({ params: { jobId: job.id } });
      saveFile(await body.blob(), body.fileName ?? job.fileName ?? job.definitionName);
    },
  });
  const mayExport = mayDo(useCaller(), 'DataExchange.Exports.Execute');
  const isComplete = job.status === 'Completed';
  return (
    <>
      {isComplete ? (
        <Callout tone="good" title={t('DataExchange.messages.ready', { 0: job.fileName ?? '' })}>
          {t('Console.exports.rows', { count: job.rowCount ?? 0 })}
        </Callout>
      ) : (
        <Callout tone="bad" title={t('DataExchange.exportStatus.Failed')}>
          {job.errorMessage}
        </Callout>
      )}
      {download.error && <Failure error={download.error} />}
      <div className="row">
        {isComplete && (
          <Button look="primary" isPending={download.isPending} onPress={() => download.mutate()}>
            <DownloadIcon aria-hidden />
            {t('Platform.actions.download')}
          </Button>
        )}
        {mayExport && <LinkButton to="/exports/new">{t('Console.exports.another')}</LinkButton>}
      </div>
    </>
  );
}
