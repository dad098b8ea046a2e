import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Download as DownloadIcon, FileUp, Undo2 } from 'lucide-react';
import { useCallback, useDeferredValue } from 'react';
import {
  dataExchange,
  importDefinitionsQuery,
  importQuery,
  importReportQuery,
  importsQuery,
  importUndoQuery,
  type ImportJob,
  type ImportReport,
  type ImportUndo,
} from '../api/data-exchange';
import { Button } from '../components/button';
import { Confirm } from '../components/confirm';
import { LinkButton } from '../components/link-button';
import { saveFile } from '../components/save-file';
import { Callout, Failure, Progress, Skeleton } from '../components/state';
import { useStoredState } from '../components/stored-state';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { isNamedCorrected } from './corrections';
import { importCorrected } from './import-corrected';
import { ErrorList } from './error-list';
import { ReportFigures } from './report-figures';

/** The last step: what became of the rows, and what can be done about those that failed. */
export function ResultStep({ job }: { job: ImportJob }) {
  const isUndone = job.undoStatus !== null;
  const reading = useQuery(importReportQuery(job.id));
  const undoing = useQuery({ ...importUndoQuery(job.id), enabled: isUndone });
  // Hundreds of rows are rendered in pieces, between which keys and clicks are answered.
  const report = useDeferredValue(reading.data);
  const { data: undo } = undoing;
  const failed = [reading, undoing].find(({ error }) => error);
  if (failed) return <Failure error={failed.error!} onRetry={failed.refetch} />;
  if (!report || (isUndone && !undo)) return <Skeleton lines={5} height="3rem" />;
  return (
    <>
      {undo ? <UndoResult undo={undo} /> : <Outcome report={report} />}
      <ReportFigures report={report} />
      <Actions job={job} report={report} />
      {report.rowErrors.length > 0 && <Corrections job={job} report={report} />}
    </>
  );
}

function Outcome({ report }: { report: ImportReport }) {
  const { t, duration } = useTexts();
  const { finalStatus, insertedRows, updatedRows, errorMessage } = report;
  const tone = finalStatus === 'Completed' ? 'good' : finalStatus === 'PartiallyCompleted' ? 'warn' : 'bad';
  return (
    <Callout
      tone={finalStatus === 'Cancelled' ? 'info' : tone}
      title={t(`Console.imports.outcome.${finalStatus}`, { count: report.failedRows })}
    >
      {errorMessage ??
        t('Console.imports.imported', {
          inserted: insertedRows,
          updated: updatedRows,
          time: duration(secondsOf(report.duration)),
        })}
    </Callout>
  );
}

function Actions({ job, report }: { job: ImportJob; report: ImportReport }) {
  const { t } = useTexts();
  const caller = useCaller();
  const mayImport = mayDo(caller, 'DataExchange.Imports.Execute');
  const { undoableUntil } = job;
  return (
    <div className="row">
      {mayImport && (
        <LinkButton to="/imports/new" look="primary">
          <FileUp aria-hidden />
          {t('Console.imports.another')}
        </LinkButton>
      )}
      {mayImport && undoableUntil && report.succeededRows > 0 && (
        <UndoButton job={job} report={report} until={undoableUntil} />
      )}
    </div>
  );
}

function UndoButton({ job, report, until }: { job: ImportJob; report: ImportReport; until: string }) {
  const { t, dateTime } = useTexts();
  const queries = useQueryClient();
  const { data: definitions } = useQuery(importDefinitionsQuery);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => (await dataExchange.undoImport({ params: { jobId: job.id } })).body,
    onSuccess: (undo) => {
      queries.setQueryData(importUndoQuery(job.id).queryKey, undo);
      queries.setQueryData(importQuery(job.id).queryKey, {
        ...job,
        undoStatus: undo.status,
        undoableUntil: null,
      });
      void queries.invalidateQueries({ queryKey: importsQuery.queryKey });
    },
  });
  const isCorrected = isNamedCorrected(job.originalFileName);
  if (!definitions)
    return (
      <span className="button" style={{ visibility: 'hidden' }} aria-hidden>
        <Undo2 />
        {t('Console.imports.undo.label')}
      </span>
    );
  if (!definitions.some(({ name, isUndoable }) => name === job.definitionName && isUndoable)) return null;
  return (
    <>
      <Confirm
        label={
          <>
            <Undo2 aria-hidden />
            {t('Console.imports.undo.label')}
          </>
        }
        title={t('Console.imports.undo.title')}
        confirmLabel={t('Console.imports.undo.label')}
        isPending={isPending}
        onConfirm={() => mutate()}
      >
        <ul className="plain">
          {report.insertedRows > 0 && (
            <li>{t('Console.imports.undo.removes', { count: report.insertedRows })}</li>
          )}
          {report.updatedRows > 0 && (
            <li>{t('Console.imports.undo.restores', { count: report.updatedRows })}</li>
          )}
          {(isCorrected || report.failedRows > 0) && (
            <li>{t(isCorrected ? 'Console.imports.undo.onlyCorrected' : 'Console.imports.undo.onlyThis')}</li>
          )}
          <li>{t('Console.imports.undo.keeps')}</li>
          <li>{t('Console.imports.undo.until', { time: dateTime(until) })}</li>
        </ul>
      </Confirm>
      {error && <Failure error={error} />}
    </>
  );
}

function UndoResult({ undo }: { undo: ImportUndo }) {
  const { t } = useTexts();
  if (undo.status === 'Undoing')
    return (
      <div className="panel padded stack" role="status">
        <strong>{t('DataExchange.undoStatus.Undoing')}</strong>
        <Progress label={t('DataExchange.undoStatus.Undoing')} value={undefined} />
      </div>
    );
  const tone = undo.status === 'Undone' ? 'good' : undo.status === 'PartiallyUndone' ? 'warn' : 'bad';
  return (
    <Callout tone={tone} title={t(`DataExchange.undoStatus.${undo.status}`)}>
      <div className="stack tight">
        {undo.errorMessage ??
          t('Console.imports.undo.done', {
            removed: undo.removedRows,
            restored: undo.restoredRows,
            kept: undo.keptRows,
          })}
        {undo.kept.length > 0 && (
          <ul>
            {undo.kept.map(({ key, reason }) => (
              <li key={key}>
                {key}: {t(`DataExchange.keptRowReason.${reason}`)}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Callout>
  );
}

/** A few rows are corrected here; many in the file of corrections. */
function Corrections({ job, report }: { job: ImportJob; report: ImportReport }) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const caller = useCaller();
  const mayImport = mayDo(caller, 'DataExchange.Imports.Execute');
  const [edited, setEdited] = useStoredState<Record<number, string[]>>(`import-${job.id}-corrections`, {});
  const count = Object.keys(edited).length;
  const edit = useCallback(
    (rowNumber: number, cells: string[]) => setEdited((before) => ({ ...before, [rowNumber]: cells })),
    [setEdited],
  );
  const again = useMutation({
    mutationFn: async () => {
      const next = await importCorrected(job, report.headers ?? [], Object.values(edited));
      void queries.invalidateQueries({ queryKey: importsQuery.queryKey });
      await navigate({ to: '/imports/$jobId', params: { jobId: next.id } });
    },
  });
  const file = useMutation({
    mutationFn: async () => {
      const { body } = await dataExchange.downloadCorrectionFile({ params: { jobId: job.id } });
      if (body) saveFile(await body.blob(), body.fileName ?? 'errors');
    },
  });
  const error = again.error ?? file.error;
  return (
    <ErrorList report={report} hasFile edited={edited} {...(mayImport ? { onEdit: edit } : {})}>
      {error && <Failure error={error} />}
      <div className="row">
        {mayImport && (
          <Button
            look="primary"
            isDisabled={count === 0}
            isPending={again.isPending}
            onPress={() => again.mutate()}
          >
            {t('Console.imports.importCorrected', { count })}
          </Button>
        )}
        <Button isPending={file.isPending} onPress={() => file.mutate()}>
          <DownloadIcon aria-hidden />
          {t('Console.imports.correctionFile', { count: report.failedRows })}
        </Button>
      </div>
    </ErrorList>
  );
}

/** An ISO 8601 duration of hours, minutes and seconds. */
function secondsOf(duration: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] =
    /^PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(duration)?.map(Number) ?? [];
  return (hours || 0) * 3_600 + (minutes || 0) * 60 + (seconds || 0);
}
