import { importJob, type JobProgress } from '@plinth/sdk/jobs';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { dataExchange, importQuery, importsQuery, type ImportJob } from '../api/data-exchange';
import { useJobProgress } from '../api/use-job-progress';
import { Callout, Progress } from '../components/state';
import { useTexts } from '../texts/texts';

/** The fourth step: rows go in, and the page says how many, how fast, and how long it will take. */
export function RunStep({ job }: { job: ImportJob }) {
  const { t, number, duration } = useTexts();
  const queries = useQueryClient();
  const follow = useCallback(
    async (onProgress: (progress: JobProgress) => void, signal: AbortSignal) => {
      const ended = await importJob(dataExchange, job.id).wait({ onProgress, signal });
      queries.setQueryData(importQuery(job.id).queryKey, ended);
      void queries.invalidateQueries({ queryKey: importsQuery.queryKey });
    },
    [job.id, queries],
  );
  const { progress, isConnected } = useJobProgress(follow);
  const { rowsDone = 0, rowsFailed = 0, rowsPerSecond = 0, estimatedEndAt = null } = progress ?? {};
  const elapsed = rowsPerSecond > 0 ? rowsDone / rowsPerSecond : 0;
  const left = estimatedEndAt === null ? undefined : Math.max(0, secondsUntil(estimatedEndAt));
  const share = left === undefined || elapsed === 0 ? undefined : elapsed / (elapsed + left);
  return (
    <>
      {!isConnected && (
        <Callout tone="warn" title={t('Console.failure.offline')}>
          {t('Console.imports.reconnecting')}
        </Callout>
      )}
      <div className="panel padded stack">
        <div className="row spread">
          <strong>{t('Console.imports.running', { count: rowsDone })}</strong>
          <span className="soft">
            {left !== undefined && t('Console.imports.left', { time: duration(left) })}
          </span>
        </div>
        <Progress label={t('DataExchange.importStatus.Executing')} value={share} />
        <div className="row soft small number">
          <span>{t('Console.imports.rate', { rate: number(rowsPerSecond) })}</span>
          {rowsFailed > 0 && <span>{t('DataExchange.messages.failedRows', { count: rowsFailed })}</span>}
        </div>
      </div>
      <p className="soft">{t('Console.imports.mayLeave')}</p>
    </>
  );
}

const secondsUntil = (time: string): number => (new Date(time).getTime() - Date.now()) / 1_000;
